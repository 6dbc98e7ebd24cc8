# Titles and notes of the first screen
screen-two = { $other }: multiples of { $reference }'s cost
screen-many = { $environments } environments, { $rows } rows: multiples of { $reference }'s cost
screen-two-dirs = { $other }: multiples of the cost in { $base }
screen-many-dirs = { $count } directories, { $rows } { $rows ->
    [one] row
   *[other] rows
}: multiples of the cost in { $base }
screen-without-dir = … and { $count } { $count ->
    [one] row
   *[other] rows
} without a directory (--section rows)
screen-left-out = … not shown for want of room: { $names }
screen-more-rows = … { $count } more { $count ->
    [one] row
   *[other] rows
}{ $which }
screen-count-of = { $count } { $what }
screen-more-warnings = { " " }(and { $count } more: --section notes)
screen-next = next:
screen-rows = rows:
screen-bold = bold: slower or faster
screen-start = start

# The marks of the table
legend-same = = same within { $margin }
legend-open = ~ no difference shown
legend-levels = ? jumps between levels
legend-filesystem = T on another type of filesystem
legend-share = 1of2: in 1 of 2 rows
legend-no-verdict = ( ) no verdict
legend-missing = – not measured
legend-failed = ! failed
legend-no-cost = · of several rows, so no single cost
legend-number = number: of several rows, the one farthest from 1
legend-start = { $start }: the time that starting takes
range-of-rounds = tax as a range: four of five single rounds lie in it; the interval is of their common value, so it may be narrower
range-of-levels = tax as a range: the levels between which it jumps
range-of-runs = tax as a range: from the least to the largest of the runs

# The state of the machine
state-word-noisy = NOISY
state-word-quiet = quiet
state-word-unknown = load unknown
state-cpus-unknown = a CPU
state-cpus-of = { $cpus ->
    [one] the CPU
   *[other] one of { $cpus } CPUs
}
state-wanted = { $usual } other { $usual ->
    [one] task
   *[other] tasks
} wanted { $cpus } in half of the blocks
state-wanted-none = no other task wanted { $cpus } in half of the blocks
state-wanted-most = { $most } or more in a tenth
state-hypervisor = the hypervisor took { $share }
state-rounds-of = { $rounds } { $most ->
    [one] round
   *[other] rounds
}{ $of }
state-rounds-wanted = { " " }of the { $wanted } that are wanted

# Sentences about environments
area-bystander = bystanders
area-clock = the clock
area-cpu = the CPU
area-file = files
area-memory = memory
area-pipe = pipes
area-process = processes
area-signal = signals
area-socket = sockets
area-syscall = system calls
area-thread = threads
names-and-others = { $names } and { $count } others
names-and = { $names } and { $last }
in-all-rows = { " " }in all { $rows } rows
in-rows = { " " }in { $count } of { $rows } rows
in-cases = { " " }in { $count } of { $rows } cases
all-rows = all { $rows } rows
more-rows = { $count } more { $count ->
    [one] row
   *[other] rows
}
in-brackets = { " " }({ $ends })
figure = { $ratio }×{ $interval }
what-in-rows = { $what }{ $rows }
said-area = { $area } { $figure }{ $rows }
said-area-up = { $area } up to { $figure }{ $rows }
said-area-down = { $area } down to { $figure }{ $rows }
said-command = { $figure } the time of { $reference }{ $rows }
said-command-up = up to { $figure } the time of { $reference }{ $rows }
said-command-down = down to { $figure } the time of { $reference }{ $rows }
said-less-in-areas = less in { $count } more areas
said-same = the same within { $margin }{ $rows }
said-areas-same = { $names } the same within { $margin }
said-too-little = too little measured to tell
said-no-difference = no difference shown
said-no-difference-of = no difference shown ({ $ends })
said-jumps = jumps between levels
said-few-starts = too few starts to tell
said-did-not-start = did not start: { $why }
others = the { $count } others: { $what }{ $absent }
others-up = up to { $figure } ({ $row })
others-down = down to { $figure } ({ $row })
others-absent = ; { $count } did not start

# Sentences about directories
dirs-least = least cost: { $text }
dirs-least-in = least cost in { $columns }: { $text }
dirs-cheapest = { $dirs } in { $rows }
dirs-or = { $first } or { $second }
dirs-alike = three or more alike in { $rows }
dirs-open = no difference shown in { $rows }
dirs-figure = { $ratio }×{ $interval }
dirs-figure-average = { $ratio }× on average{ $interval }
dirs-more = { $name }: more than { $base }, { $figure }{ $ends }
dirs-less = { $name }: less than { $base }, { $figure }{ $ends }
dirs-same = { $name }: as much as { $base } within { $margin }, { $figure }{ $ends }
dirs-perhaps-more = { $name }: perhaps more than { $base }, { $figure }{ $ends }
dirs-perhaps-less = { $name }: perhaps less than { $base }, { $figure }{ $ends }
dirs-not-shown = { $name }: no difference from { $base } shown, { $figure }{ $ends }
dirs-ends = ; { $ends }
dirs-down = down to { $ratio }× in { $row }
dirs-up = up to { $ratio }× in { $row }
