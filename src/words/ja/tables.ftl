# 項目の表
not-measured = 未測定
did-not-start = 起動せず
no-reference = 基準値なし
reference = 基準
empty-shell = 空のシェル
mean-of-rows = { $rows }項目の平均
mean-of-some-rows = { $rows }項目中{ $count }項目の平均
range-to = { $low }〜{ $high }
list-more = ほか{ $count }件

# 列の見出し
head-cost = コスト
head-tax = コスト比
head-interval = 95%区間
head-mean = 平均値
head-whole-interval = 95%信頼区間
head-verdict = 判定
head-half-width = ±95%
head-least = 最小
head-most = 最大
head-p90 = 90%
head-p99 = 99%
head-p999 = 99.9%
head-runs = 回数
head-user = user
head-system = system
head-faults = フォールト
head-switches = 切り替え
head-read = 読み出し
head-written = 書き込み
head-next-run = 次回(95%)
head-share = ラウンドの割合
head-call = 呼び出し当たり
head-kib = 1 KiB当たり
head-fit = 近似の誤差
head-copies = 同時実行数
head-as-much = 処理量
head-of-possible = 理論値比
head-median = 中央値
head-worst = 最悪値
head-count = 回数
head-first-run = 初回
head-from-to = 範囲
head-later = 2回目以降
head-first-later = 初回/2回目以降
head-first = 初回
head-again = 2回目以降
head-cold = キャッシュなし
head-cpu = CPU時間
head-memory = メモリ
head-processes = プロセス数
head-busy = 使用CPU数
head-facts = { $reference } の値と、その下に他の環境の値

# 表題
title-runs = 実行時間(実時間)
title-uses = 1回の実行で使ったリソース
title-next-runs = 測定ごとのコスト比と、次回の予測範囲
title-levels = コスト比の水準(多峰)
title-ladders = ブロックサイズ: 呼び出しコストとバイト当たりのコスト
title-copies = 同時実行時の処理量
title-latencies = 個々の操作の所要時間
title-first-runs = 起動後の初回実行と2回目以降
title-starts = 環境の起動時間(コマンドの実行から応答まで)
title-facts = 環境の違い
title-directories = 対象ディレクトリ: `{ $reference }` に対するコスト比

# 表の中の語
runs-apart = { $runs }(ばらつき大)
ladder-incomplete = 一部のサイズのみ
ladder-no-fit = 近似できず: ±{ $off }
ladder-tax = コスト比
ladder-share = { $size }では、時間の{ $share }が呼び出しコスト
facts-unknown = { $reference } では分かるが、これらの環境では分からない情報
facts-long = (長いため、違いのみ表示)
facts-in-another-order = 順序のみ異なる
