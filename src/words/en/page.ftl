# Verdicts
verdict-slower = slower
verdict-faster = faster
verdict-same = same
verdict-slower-in-doubt = slower?
verdict-faster-in-doubt = faster?
verdict-levels = levels
verdict-few-ticks = few ticks
verdict-few-starts = few starts
verdict-not-shown = not shown
verdict-none = no verdict
cell-skipped = skipped
cell-failed = failed
cell-not-reached = not reached

# What a verdict means
meaning-slower = The interval shows more than the margin above the reference.
meaning-faster = The interval shows more than the margin below the reference.
meaning-same = The interval lies within the margin on both sides of 1: no difference that matters.
meaning-slower-in-doubt = The row alone would be slower, but of so many rows some look so by chance.
meaning-faster-in-doubt = The row alone would be faster, but of so many rows some look so by chance.
meaning-levels = The cost jumps between levels, and not all of them are on one side of the margin.
meaning-few-ticks = The difference is less than three ticks of the clock that counts CPU time.
meaning-few-starts = The environment was started too rarely to know what a start decides.
meaning-not-shown = Neither a difference nor its absence is shown: measure longer.
meaning-none = There is too little data for any verdict.

# Charts
forest-title = Cost as a multiple of { $reference }
forest-cut = { $shown } of { $all } rows: those that are farthest from the reference
forest-floor = floor, with its 95 % interval
forest-mean = mean, with its 95 % interval
forest-text = The taxes of { $rows } rows against { $reference } with their 95 % intervals, on a logarithmic axis. The table has the same figures.
matrix-title = All rows as multiples of { $reference }'s cost
matrix-legend = = same within { $margin };  ~ no difference shown;  – not measured;  ! failed
matrix-text = A table of { $rows } rows in { $environments } environments, coloured by verdict.
time-text = The cost of each round of { $row } over time, for each environment, with the number of other tasks that wanted a CPU below.
time-load = tasks ≤ { $most }
ladder-text = What a call of { $row } takes for each block size, with the fitted line of the cost of a call and of its bytes.
latency-text = The times that 50 %, 90 %, 99 % and 99.9 % of the operations of { $row } stay below, and the worst one.
latency-worst = worst
scaling-title = Several copies at a time: how many times as much as one
scaling-unit = times one copy
bars-lower = shorter is faster
bars-higher = longer is faster
bars-text = Bars with 95 % intervals: { $title }. The tables have the same figures.

# The page
page-title = { $others } compared with { $reference }: what operations cost
page-title-many = { $count } environments compared with { $reference }: what operations cost
page-title-one = What operations cost in { $reference }
page-contents = Contents
page-summary = In short
page-matrix = At a glance
page-rows = Row by row
page-tables = More tables
page-method = How it was measured, and what to beware of
page-words = Words
page-flag = flag { $letter }
probe-timed = timed
probe-excluded = not in the figure
probe-source = source
probe-unknown = This row is no probe of envtax: a whole command, or a result of another program.
page-data = The data
page-show-table = The same as a table
page-state = State of the machine
page-again = The same comparison in a terminal
page-download-json = Download the report as JSON (compressed)
page-made-by = Made by envtax { $version }. This page is one file and loads nothing from elsewhere.
page-floor = The floor of a block is the 25 % quantile of its samples: what the operation takes when nothing disturbs it. The mean has everything that happened. A tax is an environment's cost divided by the reference's in the same round; its 95 % interval is taken over the rounds. Differences of up to { $margin } count as the same.
page-absent = { $label } did not start, and has no rows.
page-time = Over time
page-time-how = The cost of each round in the order of time; the strip below shows how many other tasks wanted a CPU. A line that rises or falls is a drift; two bands are levels.
column-rounds = Rounds
column-floor = Floor
column-least = Least
column-most = Most
column-row = Row
column-cost = Cost
column-tax = Tax
column-interval = 95 % interval
column-mean = Mean
column-verdict = Verdict

# Findings
finding = { $label }: { $clauses }.
finding-absent = { $label } did not start.
finding-slower = slower in { $count } of { $rows } rows, up to { $figure } in { $row }
finding-faster = faster in { $count } of { $rows } rows, down to { $figure } in { $row }
finding-same = the same within { $margin } in { $count } { $count ->
    [one] row
   *[other] rows
}
finding-open = no difference shown in { $count } { $count ->
    [one] row
   *[other] rows
}
finding-untested = no verdict in { $count } { $count ->
    [one] row
   *[other] rows
}
finding-failed = failed in { $count } { $count ->
    [one] row
   *[other] rows
}
finding-empty = not measured in { $count } { $count ->
    [one] row
   *[other] rows
}
finding-figure = { $ratio }× (95 % interval { $low } to { $high })
finding-figure-alone = { $ratio }× (no interval)

# The article
article-question = What does it cost to run programs in { $others } instead of { $reference }? This post compares { $rows } operations.
article-findings = Findings
article-environments = Environments
article-method = Method
article-method-text = All environments were measured in turn, in interleaved rounds, so that a change of the machine hits all of them. Each figure is the ratio of an environment's cost to the reference's in the same round, with a 95 % interval over the rounds. Differences of up to { $margin } count as the same, and verdicts allow for the number of rows.
article-results = Results
article-limits = Limits
article-repeat = How to repeat it
article-repeat-text = This post and its pictures were made from the run files by these commands:
fact-environment = runs in
fact-distribution = distribution
fact-kernel = kernel
fact-cpu = CPU
fact-cpus = CPUs
fact-memory = memory
fact-launcher = started by
history-text = The tax of { $row } in each run, in the order of time, with 95 % intervals. The table has the same figures.
column-started = Begun
column-file = File
column-environment = Environment

# The viewer
view-title = Run files
view-filter = Contains
view-sort = Order
view-sort-date = newest first
view-sort-name = by name
view-sort-area = by area
view-sort-tax = largest tax first
view-language = Language
view-apply = Apply
view-empty = This folder has no run files. `envtax run` writes one into the working directory.
view-cut = The folder has more than { $most } entries; the others are not looked at.
view-limits = A comparison takes up to { $files } files. The row over time takes the newest { $history } files that can have it; its first time reads them whole, which takes a while where they are large.
view-shown = { $from } to { $to } of { $count }
view-before = The ones before
view-after = The ones after
view-worst = The rows with the largest tax first
view-compare = Compare those that are ticked
view-none-chosen = no run file is chosen: tick at least one in the list
view-history = One row over all of these files
view-show = Show
view-history-of = { $row } over time
view-history-empty = No file has a tax for this row. Rows have the names that the tables show, such as syscall.getppid.
view-history-cut = Only the newest { $most } files are shown.
view-damaged = { $count } { $count ->
    [one] file is
   *[other] files are
} no readable run file
view-stop = End the viewer
view-back = All run files
view-problem = This does not work
view-nothing-here = There is nothing at this address
view-reference = Reference
view-margin = Margin in %
view-rows = Rows with
view-download = Download:
view-pictures = Pictures of single charts
view-column-file = File
view-column-started = Begun
view-column-environments = Environments
view-column-cases = Cases
view-column-size = Size
view-column-machine = Machine
