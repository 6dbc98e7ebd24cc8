# 注記の部品
nothing = { "" }
verbatim = { $text }
named = `{ $name }`: { $text }
of-file = (`{ $file }`)
of-cases = { $cases }: { $text }
and-more = { $first } ほか{ $count }件
in-some-runs = { $text }({ $all }回中{ $count }回)
unknown = 不明
none = なし
on = 有効
off = 無効
differs = { $name } { $base } / { $own }
differs-long = { $name }(測定結果ファイルを参照)
clause-join = 。
list-join = 、
item-join = 、

# 環境と時計
file-ends-before-start = この環境を起動する前の時点でファイルが途切れています
clock-fast = この環境の時計は測定元の時計より{ $rate }速く進んでいます。コストの値にもすべて同じだけの誤差があります
clock-slow = この環境の時計は測定元の時計より{ $rate }遅く進んでいます。コストの値にもすべて同じだけの誤差があります
clock-jumps = { $all }ブロック中{ $longer }ブロックで、この環境の時計で測定した時間が測定元の待ち時間より長くなっています。時計が飛んでいます
clock-backward = 単調増加のはずの時計が{ $steps }回逆戻りしました
mean-is-paid = システムコールを別のプロセスが処理しており、呼び出しのたびにそのプロセスを動かす必要があります。マシンの他の負荷が高いほどコストが増え、利用者が実際に体感するのは平均値です
facts-differ = `{ $column }` と { $reference } の違い: { $facts }

# 測定結果ファイル
interrupted = 測定はユーザーによって中断されました
steal = CPU時間の{ $share }をハイパーバイザーに取られていました(steal)
few-rounds-of-run = { $all }項目中{ $few }項目が{ $rounds }ラウンドに達する前に測定が終わりました。これらの信頼区間は信頼性が下がります
few-rounds-of-budget = { $all }項目中{ $few }項目が{ $rounds }ラウンドに達する前に測定時間の上限になりました。これらの信頼区間は信頼性が下がります。`--budget` で測定時間を延ばしてください
load = 負荷: CPUを要求していた他のタスクは、半数のブロックで{ $usual }個以下、1割のブロックで{ $most }個以上でした{ $own }{ $wait }{ $steal }
load-own = 。うち{ $own }個はenvtax自身がかけた負荷です(`--load { $own }`)
load-wait = 。半数のブロックでは、測定プロセスがCPUを待った時間は{ $share }以下でした
load-steal = 。ハイパーバイザーに取られたCPU時間は{ $share }でした(steal)
started-once = 起動は1回のみ: { $which }は、環境を1回起動しただけで測定しています。起動のたびに変わる要因は信頼区間に含まれません(`--launches 5` を指定するか、測定時間を延ばしてください)
started-once-all = 全項目
started-once-some = { $count }項目

# セッション
sessions-differ = ファイルごとに別々に測定しており、交互には測定していません。同じマシンでも、測定するたびに数%の差が出ます。{ $alone }{ $more }{ $boots }{ $turn }
sessions-alone = 前後1回ずつでは測定ごとのばらつきが分からないため、ここに出た差が本物とは言えず、あと何回測定すれば分かるのかも言えません。
sessions-are-few = 判定には前後それぞれ{ $needed }回以上の測定が必要です。{ $advisable }回を推奨します(`--versus`)。
sessions-are-some = 前後それぞれ{ $advisable }回の測定を推奨します。
sessions-of-one-boot = 片側の測定がすべて、マシンを1回起動した間に行われているため、起動のたびに変わる要因が差のように見えます。
sessions-one-after-the-other = 片側の測定がすべて、もう片側の測定より先に行われているため、その間のマシンの変化が差のように見えます。前、後、前、後と交互に測定してください。
sessions-vary = 同じ側でも測定ごとに{ $deviation }のばらつきがあります。{ $before }回と{ $after }回の測定では、{ $seen }を5回に4回の割合で検出できます(それより小さい差は検出しにくくなります)。{ $more }
sessions-show-one = { $most }の差
sessions-show-several = { $least }({ $best })から{ $most }({ $worst })までの差
sessions-suffice = { $margin }の差を検出するには十分です
sessions-are-missing = { $margin }の差を検出するには、前後それぞれあと{ $count }回ほどの測定が必要です
sessions-never-suffice = { $margin }の差を検出するには前後それぞれ1000回を超える測定が必要なため、検出できません

# コマンド全体
ticks = user時間とsystem時間が{ $tick }の整数倍になっています。CPU時間がこの単位(ティック)で数えられているか、この桁数で記録されています。3単位未満の差は変化とはみなしません
several-cpus = user時間とsystem時間の合計が実時間の{ $low }〜{ $high }倍です。複数のCPUで動いているため、実時間とCPU時間は別々に変化することがあります
single-runs = 1回ずつしか実行していないため、もう一度実行したときにどのくらい変わるかは分かりません
drift-down = { $case }: 実行{ $of_file }のたびに直前より{ $change }ずつ短くなりました({ $near }〜{ $far })。まだ安定していないため、コストは測定時間の長さによって変わります
drift-up = { $case }: 実行{ $of_file }のたびに直前より{ $change }ずつ長くなりました({ $near }〜{ $far })。まだ安定していないため、コストは測定時間の長さによって変わります
other-program = `{ $name }` が { $reference } のものと異なります。違い: { $found }
other-command = 実行したコマンドは `{ $own }` で、{ $reference } では `{ $base }` でした
other-way = { $reference } とは実行方法が異なります: { $found }

# プローブ
not-durable = { $claimed }が永続化されたと報告されましたが、その間にデバイスが書き込んだのは{ $written }です
durable-too-fast = 同期が{ $time }未満で完了しています。この時間内にデータを保存できるデバイスはありません
in-memory = { $kind }のファイルはメモリ上にあり、同期しても永続化されません
control-differs = CPUそのものの速さが異なります({ $rows })。環境によって変わるはずのない値なので、他のすべての項目も疑わしくなります。CPU周波数、エミュレーション、別のマシンで測定していないかを確認してください
control-ratio = `{ $column }` の { $row } が{ $ratio }倍
memory-figures-differ = { $row }: 1つ当たりのメモリは、システムのカウンターでは{ $counted }、空きメモリの減り方では{ $left }です。測定中に他のプログラムがメモリを確保または解放したか、システムが別の場所に計上しています。他のプログラムが少ないときに測定し直してください
