# What layouts share
layout-letters = letters in brackets are doubts: `envtax list flags` explains them
layout-empty = the layout `{ $name }` finds none of its rows; measure them with `{ $command }`
layout-ratio = ratio
layout-unreached = not reached before the budget was over: rows { $count }; give a longer `--budget`
layout-counts = { $differ } of { $all } cells differ from `{ $reference }` ({ $slower } slower, { $faster } faster); { $same } the same within { $margin }; of { $open } neither is shown

# appvirt-files
appvirt-write = Write ({ $total }), seconds
appvirt-settle = Settle ({ $total }), seconds
appvirt-read = Read ({ $total }), seconds
appvirt-first = 1st
appvirt-second = 2nd
appvirt-third = 3rd
appvirt-mean = mean
appvirt-centre = centre
appvirt-note-runs = shorter is faster; the first three rounds are single runs, in random order without `--fixed-order`, beside their arithmetic mean; the last column is the centre of all rounds with its 95 % interval
appvirt-note-settle = settle: the time until the data is durable, after the program has closed the file; the time of the write does not contain it

# mounts
mounts-title = dd: { $what }
mounts-write = write
mounts-read = read
mounts-speeds = dd: MB/s, and ratio of rates with its 95 % interval

# process-cost
cost-title = Metrics, with the half-width of their 95 % intervals
cost-environments = Environments
cost-distribution = Distribution
cost-kernel = Kernel
cost-cpu = CPU
cost-cpus = CPUs
cost-memory = RAM
cost-machine = Virtual machine
cost-process = process creation [ms]
cost-process-memory = memory per process [MB]
cost-thread = thread creation [ms]
cost-thread-memory = memory per thread [MB]
cost-read-warm = read with page cache [MB/s]
cost-read-cold = read without page cache [MB/s]
cost-write-buffered = write buffered [MB/s]
cost-write-direct = write direct [MB/s]
cost-write-fdatasync = write, then fdatasync [MB/s]
cost-held = Processes held, by the parent's extra memory
cost-ballast = Creation of a process that ends at once, by the parent's memory [ms]
cost-no-ballast = no extra memory
cost-note-creation = process creation is timed in the parent only, while the children live and wait; memory is the slope over several numbers of processes, not one difference of `free`
cost-note-rates = ratios of MB/s are of the rates: above one is faster than the reference

# teardown
teardown-title = Seconds in all, and ms per process
teardown-creation = creation of { $count } ({ $shape }), s
teardown-destruction = destruction of { $count } ({ $shape }), s
teardown-each = ms per process
teardown-bystander = What a bystander feels
teardown-blocked = share of time blocked, %
teardown-total = blocked in all, s / longest, s
teardown-against-plain = against plain
teardown-calm = calm
teardown-during = during it
teardown-worst = worst
teardown-while-create = { $op }, while { $n } processes start
teardown-while-exit = { $op }, while { $n } processes end
teardown-while-writing = { $op }, while { $n } MiB are written to { $dir }
teardown-note = blocked: the share of the time of creation or destruction in which an operation of a bystander, a process at normal priority, took longer than in calm; the full report has the distributions

# unixbench
unixbench-title = UnixBench's tests: score, index, and ratio of scores with its 95 % interval
unixbench-copies = UnixBench's tests, { $copies } copies at a time: score of all, index, and ratio
unixbench-bars = UnixBench: index of each test
unixbench-index = index
unixbench-score = Index score
unixbench-note-scores = scores are computed from envtax's floor costs, with the index in brackets (10 is a SPARCstation 20-61); an index has no interval, the ratio below it has one; file copy stays in the page cache; context switching is on one CPU
unixbench-note-others = execl throughput is of a dynamically linked program that executes itself, as UnixBench's is; the tiny static program beside it is in no index; do not compare process creation with the score that UnixBench prints: it forks a larger process, which is up to twice as slow
unixbench-note-some = { $found } of the { $all } tests were measured in all columns: no index of all

# before-after
before-note-speed-up = times in seconds; speed-up: the share of the time of { $reference } that was saved, (old - new) / old
before-note-averages = mean: from the arithmetic means over the inputs; median: from the medians over the inputs, each side with its own; paired: geometric mean of the inputs' ratios; the intervals treat the inputs as a random sample of many
before-input = Input { $input }
before-command = The command
before-time = time
before-speed-up = speed-up %
before-averages = Speed-up over { $inputs } inputs, %{ $group }
head-paired = paired
before-open = no verdict:
before-zero = inconclusive (zero in some runs)
before-ticks-more = { $count } { $count ->
    [one] tick
   *[other] ticks
} more (inconclusive)
before-ticks-less = { $count } { $count ->
    [one] tick
   *[other] ticks
} less (inconclusive)
before-same = the same
before-inconclusive = inconclusive
before-took-more = took { $share } % more
before-took-less = took { $share } % less
before-slower = { $share } % slower
before-faster = { $share } % faster
before-other-inputs = the medians are of different inputs, { $before } before and { $after } after: their ratio belongs to no input
before-averages-disagree = mean ({ $mean } %) and median ({ $median } %) disagree: the inputs do not all change alike
before-no-change = the paired interval, { $low } to { $high } %, includes no change
