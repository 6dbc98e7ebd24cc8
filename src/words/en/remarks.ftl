# Parts of remarks
nothing = { "" }
verbatim = { $text }
named = `{ $name }`: { $text }
of-file = { " " }of `{ $file }`
of-cases = { $cases }: { $text }
and-more = { $first } and { $count } more
in-some-runs = { $text } ({ $count } of { $all } runs)
unknown = unknown
none = none
on = on
off = off
differs = { $name } { $base } / { $own }
differs-long = { $name } (see the run file)
clause-join = ;_
list-join = ,_
item-join = ;_

# Environments and their clocks
file-ends-before-start = the file ends before this environment was started
clock-fast = its clock runs { $rate } fast against the controller's; every cost of it is wrong by as much
clock-slow = its clock runs { $rate } slow against the controller's; every cost of it is wrong by as much
clock-jumps = { $longer } of { $all } blocks took longer by its own clock than the controller waited for them: its clock jumps
clock-backward = its monotonic clock went backwards { $steps } times
mean-is-paid = another process serves its system calls, and has to be run for each of them: costs rise with the machine's other load, and what users pay is the mean
facts-differ = `{ $column }` differs from { $reference } in: { $facts }

# Files
interrupted = the run was interrupted by the user
steal = the hypervisor took { $share } of the CPU time for others (steal)
few-rounds-of-run = the run ended before { $rounds } rounds in { $few } of { $all } cases: their intervals are less reliable
few-rounds-of-budget = the budget ended before { $rounds } rounds in { $few } of { $all } cases: their intervals are less reliable; give more time with `--budget`
load = load: in half of the blocks at most { $usual } other { $usual ->
    [one] task
   *[other] tasks
} wanted a CPU, in one of ten { $most } or more{ $own }{ $wait }{ $steal }
load-own = , { $own } of them envtax's own (`--load { $own }`)
load-wait = ; in half, workers waited at most { $share } for one
load-steal = ; the hypervisor took { $share } (steal)
started-once = started once: { $which } measured in one start of the environments only; what a start decides by chance is not in their intervals (`--launches 5`, or a longer run)
started-once-all = all rows
started-once-some = { $count } { $count ->
    [one] row
   *[other] rows
}

# Sessions
sessions-differ = the files are different sessions, not interleaved: between sessions the same machine differs by several per cent by itself.{ $alone }{ $more }{ $boots }{ $turn }
sessions-alone = { " " }With one a side, nothing is known of how far they differ by themselves: no difference here can be called real, and it cannot be told how many more would show one.
sessions-are-few = { " " }{ $needed } sessions a side are needed for a verdict, { $advisable } are advisable (`--versus`).
sessions-are-some = { " " }{ $advisable } sessions a side are advisable.
sessions-of-one-boot = { " " }Here, all sessions of a side ran on the same boot of the machine: what a boot decides by chance looks like a difference.
sessions-one-after-the-other = { " " }All sessions of one side began before those of the other: what changed on the machine meanwhile looks like a difference. Take them in turn: before, after, before, after.
sessions-vary = sessions of one side differ by { $deviation }: { $before } and { $after } of them show { $seen } in four of five cases, and smaller ones less often; { $more }
sessions-show-one = a difference of { $most }
sessions-show-several = differences of { $least } ({ $best }) to { $most } ({ $worst })
sessions-suffice = that is enough to see { $margin }
sessions-are-missing = to see { $margin }, about { $count } more { $count ->
    [one] session
   *[other] sessions
} a side are needed
sessions-never-suffice = { $margin } is out of reach: more than a thousand a side would be needed

# Whole commands
ticks = user and system times are whole multiples of { $tick }: CPU time is counted in such ticks there, or was written in such digits; fewer than three of them are no change
several-cpus = user and system time are { $low } to { $high } times the wall time: several CPUs worked, and wall and CPU time can change without each other
single-runs = one run of each: nothing tells how much another one would differ
drift-down = { $case }: each run{ $of_file } took { $change } less than the one before ({ $near } to { $far }): it had not settled, so its cost depends on the length of the measurement
drift-up = { $case }: each run{ $of_file } took { $change } more than the one before ({ $near } to { $far }): it had not settled, so its cost depends on the length of the measurement
other-program = its `{ $name }` is not the program of { $reference }, in: { $found }
other-command = ran `{ $own }`, { $reference } ran `{ $base }`
other-way = was run in another way than { $reference }: { $found }

# Probes
not-durable = { $claimed } were reported durable, the device wrote { $written } meanwhile
durable-too-fast = a sync took less than { $time }, in which no device stores anything
in-memory = the files of a { $kind } are in memory: a sync there makes nothing durable
control-differs = the CPU itself differs ({ $rows }): no environment should change that, so every other row is suspect; look for frequency, emulation, or another machine
control-ratio = { $row } { $ratio }× in `{ $column }`
memory-figures-differ = { $row }: the memory of one is { $counted } by the counters of the system, and { $left } by what it has left: other programs took or freed memory meanwhile, or the system counts it elsewhere; measure again when less else runs
