# Words of the rows
not-measured = not measured
did-not-start = did not start
no-reference = no reference
reference = reference
empty-shell = an empty shell
mean-of-rows = mean of { $rows } rows
mean-of-some-rows = mean of { $count } of { $rows } rows
range-to = { $low } to { $high }
list-more = { $count } more

# Headings of columns
head-cost = cost
head-tax = tax
head-interval = 95 %
head-mean = mean
head-whole-interval = 95 % interval
head-verdict = verdict
head-half-width = ±95 %
head-least = least
head-most = most
head-p90 = 90 %
head-p99 = 99 %
head-p999 = 99.9 %
head-runs = runs
head-user = user
head-system = system
head-faults = faults
head-switches = switches
head-read = read
head-written = written
head-next-run = next run, 95 %
head-share = part of the rounds
head-call = a call
head-kib = a KiB
head-fit = fit
head-copies = copies
head-as-much = as much
head-of-possible = of what is possible
head-median = median
head-worst = worst
head-count = of
head-first-run = first run
head-from-to = from–to
head-later = later
head-first-later = first / later
head-first = first
head-again = again
head-cold = cold
head-cpu = CPU
head-memory = memory
head-processes = processes
head-busy = busy
head-facts = { $reference }, and below it the values of others

# Titles
title-runs = Wall times of the runs
title-uses = What a run used
title-next-runs = Taxes over the runs, and where the next run will fall
title-levels = Levels between which taxes jump
title-ladders = Block sizes: cost of a call and of its bytes
title-copies = Several copies at a time
title-latencies = Latencies of single operations
title-first-runs = First run after the start, and the later ones
title-starts = Starting, from the command to the greeting
title-facts = How the environments differ, by the facts that they show
title-directories = Target directories: cost against `{ $reference }`

# Cells
runs-apart = { $runs } apart
ladder-incomplete = not all sizes
ladder-no-fit = none: ±{ $off }
ladder-tax = tax
ladder-share = at { $size }, { $share } of the time is the call
facts-unknown = facts that { $reference } shows and these do not
facts-long = (long: only the differences are shown)
facts-in-another-order = the same in another order
