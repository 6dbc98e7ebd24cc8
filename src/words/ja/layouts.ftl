# レイアウト共通
layout-letters = かっこ内の文字はフラグです。意味は `envtax list flags` で確認できます
layout-empty = レイアウト `{ $name }` に使う項目がありません。`{ $command }` で測定してください
layout-ratio = 比
layout-unreached = 測定時間が足りず測定できなかった項目: { $count }件。`--budget` を長くしてください
layout-counts = { $all }個の値のうち{ $differ }個が `{ $reference }` と異なります(遅い: { $slower }、速い: { $faster })。同等(±{ $margin }以内): { $same }、差は不明: { $open }

# appvirt-files
appvirt-write = Write({ $total })[秒]
appvirt-settle = 書き込み完了待ち({ $total })[秒]
appvirt-read = Read({ $total })[秒]
appvirt-first = 1回目
appvirt-second = 2回目
appvirt-third = 3回目
appvirt-mean = 平均
appvirt-centre = 代表値
appvirt-note-runs = 短い方が速い。最初の3列は1回ごとの値(`--fixed-order` がなければ測定順はランダム)、次の列はその相加平均、最後の列は全ラウンドの代表値と95%信頼区間です
appvirt-note-settle = 書き込み完了待ち: プログラムがファイルを閉じてから、データが永続化されるまでの時間。Writeの時間には含まれません

# mounts
mounts-title = dd: { $what }
mounts-write = 書き込み
mounts-read = 読み出し
mounts-speeds = dd: MB/sと、速度の比(95%信頼区間つき)

# process-cost
cost-title = 測定結果(95%信頼区間の半幅つき)
cost-environments = マシンスペック
cost-distribution = ディストリビューション
cost-kernel = カーネル
cost-cpu = CPU
cost-cpus = CPU数
cost-memory = RAM
cost-machine = 仮想マシン
cost-process = プロセス生成[ms]
cost-process-memory = プロセス当たりのメモリ[MB]
cost-thread = スレッド生成[ms]
cost-thread-memory = スレッド当たりのメモリ[MB]
cost-read-warm = 読み出し(ページキャッシュあり)[MB/s]
cost-read-cold = 読み出し(ページキャッシュなし)[MB/s]
cost-write-buffered = 書き込み(buffered I/O)[MB/s]
cost-write-direct = 書き込み(direct I/O)[MB/s]
cost-write-fdatasync = 書き込み(最後にfdatasync)[MB/s]
cost-held = 待機中のプロセス: 親プロセスの追加メモリ別
cost-ballast = すぐ終了するプロセスの生成: 親プロセスのメモリ別[ms]
cost-no-ballast = 追加メモリなし
cost-note-creation = プロセス生成の時間は親プロセス側だけで測定し、その間、子プロセスは生きたまま待機しています。メモリは `free` の差分1回ではなく、プロセス数を変えて測定した値の傾きから求めています
cost-note-rates = MB/sの比は速度の比です。1より大きければ基準環境より速いことを表します

# teardown
teardown-title = 合計時間[秒]とプロセス当たりの時間[ms]
teardown-creation = { $count }個の生成({ $shape })[秒]
teardown-destruction = { $count }個の終了({ $shape })[秒]
teardown-each = プロセス当たり[ms]
teardown-bystander = 他のプロセスへの影響
teardown-blocked = 待たされた時間の割合[%]
teardown-total = 待たされた合計[秒]/最長[秒]
teardown-against-plain = 追加なしの場合との比
teardown-calm = 平常時
teardown-during = 実行中
teardown-worst = 最悪値
teardown-while-create = { $op }({ $n }個のプロセスを生成中)
teardown-while-exit = { $op }({ $n }個のプロセスが終了中)
teardown-while-writing = { $op }({ $dir } に{ $n } MiBを書き込み中)
teardown-note = 待たされた時間の割合: 生成または終了にかかった時間のうち、通常優先度の他のプロセスの操作が平常時より長くかかっていた時間の割合。分布は完全版のレポートにあります

# unixbench
unixbench-title = UnixBenchの各テスト: スコア、インデックス、スコアの比(95%信頼区間つき)
unixbench-copies = UnixBenchの各テスト({ $copies }個同時): 合計スコア、インデックス、比
unixbench-bars = UnixBench: 各テストのインデックス
unixbench-index = インデックス
unixbench-score = 総合インデックス
unixbench-note-scores = スコアはenvtaxの25%点から計算しています。かっこ内はインデックス(SPARCstation 20-61を10とする)です。インデックスに信頼区間はなく、その下の比にあります。ファイルコピーはページキャッシュ上で、コンテキストスイッチは1つのCPU上で測定しています
unixbench-note-others = execlスループットは、UnixBenchと同じく、動的リンクされたプログラムが自分自身を実行するときの値です。静的リンクの小さいプログラムの行はインデックスに含みません。プロセス生成はUnixBench本体のスコアとは比較できません。UnixBenchはより大きなプロセスをforkするため、最大で2倍ほど遅くなります
unixbench-note-some = 全環境で測定できたのは{ $all }テスト中{ $found }テストのため、総合インデックスはありません

# before-after
before-note-speed-up = 時間の単位は秒。高速化率: { $reference } の時間に対して短縮された割合、(旧 - 新) / 旧
before-note-averages = 平均: 各入力の相加平均から算出。中央値: 前後それぞれの中央値から算出。対応あり: 入力ごとの比の幾何平均。信頼区間は、入力を多数の中からの無作為標本とみなしたものです
before-input = 入力 { $input }
before-command = コマンド
before-time = time
before-speed-up = 高速化率[%]
before-averages = { $inputs }入力での高速化率[%]{ $group }
head-paired = 対応あり
before-open = 判定なし:
before-zero = 差は不明(値が0の実行あり)
before-ticks-more = は{ $count }ティック増(差は不明)
before-ticks-less = は{ $count }ティック減(差は不明)
before-same = は同等
before-inconclusive = は差が不明
before-took-more = は{ $share }%増
before-took-less = は{ $share }%減
before-slower = は{ $share }%の低速化
before-faster = は{ $share }%の高速化
before-other-inputs = 中央値になった入力が前({ $before })と後({ $after })で異なるため、この比に対応する入力はありません
before-averages-disagree = 平均({ $mean }%)と中央値({ $median }%)が食い違っています。すべての入力が同じように変化してはいません
before-no-change = 対応ありの信頼区間({ $low }〜{ $high }%)は「変化なし」を含みます
