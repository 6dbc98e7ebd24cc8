# Notes below the tables
note-tax = tax: cost divided by that of { $reference }, with its 95 % interval; mean: the same of the mean cost, with all that slowed some operations; same: within ±{ $margin }{ $mean }
note-mean-of-rows = ; mean of rows: geometric
note-arrows = ↑ ↓: shown to be more, or less, than that of { $reference }
note-rows-empty = { $count } { $count ->
    [one] row
   *[other] rows
} { $state }: { $reason }
note-remedy = remedy: { $remedy }
note-printed = it printed: { $line }
note-by-hand = by hand: { $command }
note-next-attempt = the next attempt: { $what }
section-empty = section `{ $name }`: there is nothing

# Why rows are open
open-width = not shown: neither a difference nor its absence is shown
open-many-rows = slower?, faster?: the row's own 95 % interval excludes 1, but a verdict allows 2 % of error over all rows together
open-near-margin = not shown: the difference is about as large as the margin, and more time does not tell on which side it is; another `--margin` may
open-levels = levels: the cost jumps between levels, of which some are within the margin or on its other side; more time does not tell, but what decides the level may be found (`--section levels`)
open-ticks = few ticks: the difference is less than three ticks of CPU time; an input that takes more CPU time tells more
open-few-launches = few starts: the environment was started once or twice, and another start may cost up to 1.5 times as much or as little; start it more often (`--launches 5`, or a longer run)
deciding = ; the intervals that this asks for include 1: { $told }
deciding-more = ; the intervals that this asks for include 1: { $told }, and { $count } more
deciding-one = { $ends } ({ $row } in `{ $column }`)
advice-time = ; a run of about { $time } may tell ({ $how })
advice-of-commands = `--budget`
advice-of-probes = `--probe` for these rows alone, and `--budget`
advice-fewer-rows = ; fewer rows (`--probe`) or more sessions may tell
advice-too-long = ; an hour would not be enough for all of them: stop other programs, or allow a larger `--margin`

# Gates
gate-passed = gate passed: { $above } of { $judged } { $judged ->
    [one] figure
   *[other] figures
} { $certainly }above the limit{ $rest }
gate-failed = gate failed: { $above } of { $judged } { $judged ->
    [one] figure
   *[other] figures
} { $certainly }above the limit{ $rest }
gate-certainly = certainly{ " " }
gate-rest = ; { $count } not judged
gate-above = FAIL { $column } { $row } { $ratio }× > { $limit }×{ $interval }
gate-interval = { " " }(95 % interval { $ends })
gate-unjudged = FAIL { $column } not judged: { $reason }: { $rows }
gate-allowed = allowed: { $column } not judged: { $reason }: { $rows }
gate-more = and { $count } more

flags-what-to-do = { $meaning }.
    What to do: { $remedy }.

# Flags: the name, a colon, and what it means; and what to do
flag-o = below a nanosecond: no operation is that fast, so it was not done
remedy-o = do not use the row; report it with its run file as an error of envtax
flag-t = tail: the taxes of the floor and of the mean cost differ by more than 10 % and by more than both intervals; slow operations are more frequent than in the reference, or rarer
remedy-t = read the mean beside the cost, because users pay the mean; measure again on an idle machine to see whether the slow operations come from the environment
flag-c = contended: other programs took more than 5 % of the time; this changes the mean cost, but hardly the floor
remedy-c = stop other programs and measure again, or give a larger `--budget`; until then, do not read the mean
flag-w = different work: page faults or context switches an operation differ by more than 10 % from the reference's: part of the tax is other work, not slower work
remedy-w = read the tax as the cost of all that work together; a case with fewer parts, such as `syscall.getppid`, shows the cost of an operation alone
flag-p = not pinned to one CPU: changes of its CPU make the cost vary more
remedy-p = allow the environment the CPUs that envtax has (its cpuset, `taskset`), or give a larger `--budget`
flag-k = clock: one reading of the clock takes more than 1 % of a sample of this phase; a part of the cost is the clock's
remedy-k = measure the phase by a case with a longer operation, and compare only environments whose clocks cost the same (`clock.read`)
flag-r = few rounds: fewer than the plan's min_rounds (15 unless the file says otherwise); the interval is less reliable than that of a finished case, and below 5 rounds there is no verdict
remedy-r = give a larger `--budget`, or fewer cases (`--probe`)
flag-m = levels: the ratio jumps between levels, which `--section levels` lists; the verdict is slower or faster only if all levels are
remedy-m = read the table of levels; choose a placement (`cpu=same` or `cpu=other` instead of `cpu=free`) and stop other programs, if you want one level; more rounds do not help
flag-u = unverified: the file was to be cold, but some of its pages may have been in a cache
remedy-u = read the row as one of a warm cache, or measure a `--dir` whose filesystem can evict, such as ext4
flag-d = not durable: what was reported as durable was not on a disk
remedy-d = do not count on durability there: the directory may be in memory, or a write cache or a mount option may ignore flushes; its facts show which (`--format json`, `specs`)
flag-l = launches differ: from one start of the environment to the next the ratio changes by more than its rounds explain; the interval covers it, and more launches make it narrower (`--launches N`)
remedy-l = give a larger `--launches`, with the `--budget` that this takes
flag-x = another program: the file of that name differs from the reference's; the text below says how
remedy-x = install the same version in all environments, or read the row as a comparison of the programs
flag-f = at the floor: the process that starts the command has this much memory, and is counted until the command's program is executed; the command itself had at most this much
remedy-f = read the figure as an upper bound; with an input that needs more memory, the figure is the command's own
flag-q = ticks: CPU time is counted in steps, and this difference is less than three of them, or some runs show no such time at all; it does not count as a change
remedy-q = read the wall time instead, or time an input that takes a hundred steps of CPU time or more
flag-a = autocorrelated: each round resembles the one before it, so the rounds tell less than their number suggests; the interval is too narrow, and a longer run helps
remedy-a = give a larger `--budget`, or stop programs whose load changes from minute to minute
flag-b = follows the load: beside other programs the ratio is another one than without them, by more than 5 %; measure again when the machine is quiet, or beside a known load (`--load N`)
remedy-b = stop other programs and measure again, or measure beside a known load (`--load N`): the two tables, without and with it, show the effect of the load
flag-n = beside load: in half of the runs or more, other programs wanted as many CPUs as there are; commands then wait for a CPU, in some environments longer than in others, so that the verdict may be another one on a quiet machine
remedy-n = stop other programs and measure again; where that is not possible, take sessions at several times (`envtax session`) and see whether they agree
flag-s = another filesystem: the target directory lies on another kind of filesystem than in the reference, as the table of differences shows; the tax is that of both together
remedy-s = name a folder on the same disk in all environments (`--dir NAME=PATH`, or the table `dirs` of an environment in environments.toml), if the environment alone is asked for

# Why a gate could not judge a figure
gate-absent = it did not start
gate-skipped = skipped: { $what }
gate-not-measured = failed: { $what }
gate-no-reference = the reference has no figure
gate-few-runs = fewer than three runs
gate-few-rounds = too few rounds
gate-zeroes = it was zero in some runs
gate-few-sessions = fewer than three sessions a side
gate-no-verdict = no verdict is possible
gate-levels = above the limit, but not at each of the levels between which it jumps
gate-ticks = above the limit, but by a few ticks of CPU time
gate-many-rows = above the limit, but not certain among so many rows
gate-few-starts = above the limit, but in too few starts of the environment to be certain
gate-inconclusive = inconclusive

# How many more sessions are needed
session-for-verdict = { $count } sessions a side are needed for a verdict
session-advisable = { $count } sessions a side are advisable
session-for-margin = about { $count } sessions a side are needed to see { $margin }
session-enough = enough: { $count } sessions a side
session-enough-for = enough: { $count } sessions a side show a difference of { $margin }
session-out-of-reach = a difference of { $margin } is out of reach: sessions differ too much; make each longer, or ask for less with `--margin`
session-has = `{ $label }` has { $count }
session-next = { $why }; { $has }
    next, { $count } times and in turn, so that what changes on the machine meanwhile meets both:
