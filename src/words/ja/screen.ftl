# 最初の画面の表題と注
screen-two = { $other }: { $reference } に対するコスト比(倍)
screen-many = { $environments }環境 × { $rows }項目: { $reference } に対するコスト比(倍)
screen-two-dirs = { $other }: { $base } に対するコスト比(倍)
screen-many-dirs = { $count }ディレクトリ × { $rows }項目: { $base } に対するコスト比(倍)
screen-without-dir = … ほかに、ディレクトリを使わない{ $count }項目(--section rows)
screen-left-out = … 画面に入らないため省略: { $names }
screen-more-rows = … ほか{ $count }項目{ $which }
screen-count-of = { $what }{ $count }件
screen-more-warnings = (ほか{ $count }件: --section notes)
screen-next = 次に実行:
screen-rows = 全項目:
screen-bold = 太字: 遅い、または速い
screen-start = 起動

# 表の記号
legend-same = = 同等(±{ $margin }以内)
legend-open = ~ 差は不明
legend-levels = ? 多峰
legend-filesystem = T 別の種類のファイルシステム
legend-share = 1of2: 2項目中1項目が該当
legend-no-verdict = ( ) 判定なし
legend-missing = – 未測定
legend-failed = ! 失敗
legend-no-cost = · 複数の項目のため単一のコストなし
legend-number = 数値: 複数の項目のうち1から最も離れた項目の値
legend-start = { $start }: 起動にかかる時間
range-of-rounds = コスト比の範囲表示: 個々のラウンドの5分の4がこの範囲にあります。信頼区間は全ラウンドに共通の値についてのものなので、これより狭いことがあります
range-of-levels = コスト比の範囲表示: 切り替わる水準の最小と最大です
range-of-runs = コスト比の範囲表示: 測定ごとの値の最小と最大です

# マシンの状態
state-word-noisy = 負荷あり
state-word-quiet = 低負荷
state-word-unknown = 他の負荷は不明
state-cpus-unknown = CPU
state-cpus-of = CPU({ $cpus }個)
state-wanted = { $cpus }を要求していた他のタスクは、半数のブロックで{ $usual }個以下
state-wanted-none = { $cpus }を要求していた他のタスクは、半数のブロックで0個
state-wanted-most = 1割のブロックで{ $most }個以上
state-hypervisor = ハイパーバイザーに取られたCPU時間は{ $share }
state-rounds-of = ラウンド数は{ $rounds }{ $of }
state-rounds-wanted = (計画では{ $wanted }以上)

# 環境についての文
area-bystander = 他のプロセスへの影響
area-clock = 時計
area-cpu = CPU
area-file = ファイル
area-memory = メモリ
area-pipe = パイプ
area-process = プロセス
area-signal = シグナル
area-socket = ソケット
area-syscall = システムコール
area-thread = スレッド
names-and-others = { $names }、ほか{ $count }環境
names-and = { $names }、{ $last }
in-all-rows = 全{ $rows }項目で
in-rows = { $rows }項目中{ $count }項目で
in-cases = { $rows }件中{ $count }件で
all-rows = 全{ $rows }項目
more-rows = ほか{ $count }項目
in-brackets = ({ $ends })
figure = { $ratio }倍{ $interval }
what-in-rows = { $rows }{ $what }
said-area = { $area }は{ $rows }{ $figure }
said-area-up = { $area }は{ $rows }最大{ $figure }
said-area-down = { $area }は{ $rows }最小{ $figure }
said-command = 実行時間は{ $rows } { $reference } の{ $figure }
said-command-up = 実行時間は{ $rows }最大で { $reference } の{ $figure }
said-command-down = 実行時間は{ $rows }最小で { $reference } の{ $figure }
said-less-in-areas = ほか{ $count }分野はこれより小さい差
said-same = { $rows }同等(±{ $margin }以内)
said-areas-same = { $names }は同等(±{ $margin }以内)
said-too-little = 測定が足りず差は不明
said-no-difference = 差は不明
said-no-difference-of = 差は不明({ $ends })
said-jumps = 多峰
said-few-starts = 起動回数が足りず差は不明
said-did-not-start = 起動せず: { $why }
others = ほか{ $count }環境: { $what }{ $absent }
others-up = 最大{ $figure }({ $row })
others-down = 最小{ $figure }({ $row })
others-absent = 。{ $count }環境は起動せず

# ディレクトリについての文
dirs-least = コスト最小: { $text }
dirs-least-in = コスト最小({ $columns }): { $text }
dirs-cheapest = { $rows } は { $dirs }
dirs-or = { $first } または { $second }
dirs-alike = { $rows } は3つ以上がほぼ同じ
dirs-open = { $rows } は差が不明
dirs-figure = { $ratio }倍{ $interval }
dirs-figure-average = 平均{ $ratio }倍{ $interval }
dirs-more = { $name }: { $base } より遅い、{ $figure }{ $ends }
dirs-less = { $name }: { $base } より速い、{ $figure }{ $ends }
dirs-same = { $name }: { $base } と同等(±{ $margin }以内)、{ $figure }{ $ends }
dirs-perhaps-more = { $name }: { $base } より遅い可能性あり、{ $figure }{ $ends }
dirs-perhaps-less = { $name }: { $base } より速い可能性あり、{ $figure }{ $ends }
dirs-not-shown = { $name }: { $base } との差は不明、{ $figure }{ $ends }
dirs-ends = 。{ $ends }
dirs-down = { $row } で最小{ $ratio }倍
dirs-up = { $row } で最大{ $ratio }倍
