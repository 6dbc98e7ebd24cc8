# 判定
verdict-slower = 遅い
verdict-faster = 速い
verdict-same = 同等
verdict-slower-in-doubt = 遅い?
verdict-faster-in-doubt = 速い?
verdict-levels = 多峰
verdict-few-ticks = 分解能不足
verdict-few-starts = 起動回数不足
verdict-not-shown = 差は不明
verdict-none = 判定なし
cell-skipped = 対象外
cell-failed = 失敗
cell-not-reached = 未測定

# 判定の意味
meaning-slower = 信頼区間全体が、許容差を超えて基準環境より遅い側にあります。
meaning-faster = 信頼区間全体が、許容差を超えて基準環境より速い側にあります。
meaning-same = 信頼区間全体が許容差の範囲内にあり、問題になるほどの差はありません。
meaning-slower-in-doubt = この項目だけを見れば遅いと言えますが、項目数が多いため偶然そう見えている可能性があります。
meaning-faster-in-doubt = この項目だけを見れば速いと言えますが、項目数が多いため偶然そう見えている可能性があります。
meaning-levels = コストが複数の水準の間で切り替わっており、そのすべてが許容差の同じ側にあるわけではありません。
meaning-few-ticks = 差がCPU時間の計測単位(ティック)3つ分に満たないため、変化とはみなしません。
meaning-few-starts = 環境の起動回数が少なく、起動ごとのばらつきを見積もれません。
meaning-not-shown = 差があるともないとも言えません。測定時間を延ばすと分かる場合があります。
meaning-none = 判定に必要なデータが足りません。

# グラフ
forest-title = { $reference }を1とした場合のコスト(倍)
forest-cut = 全{ $all }項目のうち、基準環境との差が大きい{ $shown }項目を表示
forest-floor = 下限値と95%信頼区間
forest-mean = 平均値と95%信頼区間
forest-text = { $rows }項目について、{ $reference }に対するコスト比と95%信頼区間を対数軸で示したグラフです。同じ数値は表にもあります。
matrix-title = 全項目のコスト({ $reference }に対する倍率)
matrix-legend = = 同等(±{ $margin }以内) ~ 差は不明 – 未測定 ! 失敗
matrix-text = { $rows }項目 × { $environments }環境の一覧表です。色は判定を表します。
time-text = { $row } の各ラウンドのコストを環境ごとに時系列で示したグラフです。下段は、その時点でCPUを待っていた他のタスクの数です。
time-load = 他タスク ≤ { $most }
ladder-text = { $row } の1回の呼び出しにかかる時間をブロックサイズごとに示し、呼び出しコストとバイト当たりコストの近似線を重ねたグラフです。
latency-text = { $row } の所要時間の分布です。全体の50%、90%、99%、99.9%がこの時間以内に終わり、右端は最悪値です。
latency-worst = 最悪値
scaling-title = 同時に複数実行した場合の処理量(1つの場合に対する倍率)
scaling-unit = 倍
bars-lower = 短い方が速い
bars-higher = 長い方が速い
bars-text = { $title } の棒グラフ(95%信頼区間つき)です。同じ数値は表にもあります。

# ページ
page-title = { $reference }と比べた{ $others }のコスト
page-title-many = { $reference }と比べた{ $count }環境のコスト
page-title-one = { $reference }での各操作のコスト
page-contents = 目次
page-summary = 結果の要約
page-matrix = 一覧
page-rows = 項目ごとの結果
page-tables = その他の表
page-method = 測定方法と注意点
page-data = 測定データ
page-show-table = 数値を表で見る
page-state = 測定中のマシンの状態
page-again = 同じ比較をターミナルで表示するコマンド
page-download-json = レポートをJSONでダウンロード
page-download-rounds = 全ラウンドの値をCSVでダウンロード
page-without-script = スクリプトが無効な場合は、このページのソースにある report-data 要素からデータを取り出せます。
page-made-by = envtax { $version } で作成。このページは1ファイルで完結しており、外部からは何も読み込みません。
page-floor = 「下限値」は各ブロックのサンプルの25パーセンタイルで、邪魔が入らないときの所要時間を表します。「平均値」には起きたことがすべて含まれます。コスト比は同じラウンドで測定した基準環境の値で割ったもので、95%信頼区間はラウンド間のばらつきから求めています。{ $margin }以内の差は同等とみなします。
page-absent = { $label } は起動しなかったため、測定結果がありません。
page-time = 時間による変化
page-time-how = 各ラウンドのコストを時刻順に並べたものです。下の帯は、CPUを待っていた他のタスクの数を表します。全体が徐々に上がる(下がる)ならドリフト、帯が2つに分かれていれば多峰です。
column-rounds = ラウンド数
column-floor = 下限値
column-least = 最小
column-most = 最大
column-row = 項目
column-cost = コスト
column-tax = コスト比
column-interval = 95%信頼区間
column-mean = 平均値
column-verdict = 判定
