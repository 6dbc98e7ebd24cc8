# プローブの説明: 何を測定するか、測定対象、数値に含まれないもの。英語版は各プローブのソースにあります
probe-null = 空のループ。測定用ループ自体のコスト
probe-null-timed = コンパイラーに取り除かれない、何もしないループ。
probe-null-excluded = なし。他のすべての数値にこのコストが含まれています(差し引いていません)。
probe-clock-read = 時刻の取得1回と、時計の分解能
probe-clock-read-timed = Cライブラリ経由のclock_gettimeと、ナノ秒への換算。環境にその時計のvDSOがあればそれを使います。`cputime` はプロセスのCPU時間で、カーネルへの問い合わせが必要です。
probe-clock-read-excluded = `resolution` は時間ではなく、連続した2回の読み取りで現れた、0より大きい最小の増分です。
probe-cpu-integer = Dhrystone 2.1の1周(整数演算)
probe-cpu-integer-timed = Weicker版ベンチマークの1周。1e9をこの値(ns)で割るとDhrystones/秒になります。
probe-cpu-integer-excluded = サンプルごとの検算。システムコールを呼ばないため、環境による差は、割り当てられたCPUの差です。
probe-cpu-float = Whetstoneの100万命令(倍精度浮動小数点演算)
probe-cpu-float-timed = 8つのモジュールの1周で、100万Whetstone命令に当たります。1e9をこの値(ns)で割るとMWIPSになります。
probe-cpu-float-excluded = サンプルごとの検算。システムコールは呼びません。UnixBenchとは実装が異なり、UnixBenchのMWIPSは5%ほど低くなります。
probe-syscall-getppid = getppidシステムコール1回。カーネルに入って戻るだけのコスト
probe-syscall-getppid-timed = 番号を直接指定したシステムコール。Cライブラリのキャッシュでは応答できません。
probe-syscall-getppid-excluded = なし。
probe-syscall-call = 種類ごとに最小限の処理をするシステムコール1回
probe-syscall-call-timed = `read`: /dev/zeroから1バイト。`write`: /dev/nullへ1バイト。`stat`: /etc/passwd。`openclose`: /etc/passwdを開いて閉じる。`dupclose`: パイプのdupとclose。
probe-syscall-call-excluded = 対象ディレクトリのファイルの操作(file.statとfile.openで測定します)。
probe-syscall-mix = 軽いシステムコール5種(dup、close、getpid、getuid、umask)
probe-syscall-mix-timed = 5つを順に1回ずつ、番号を直接指定して呼びます。UnixBenchのSystem Call Overheadに相当します。
probe-syscall-mix-excluded = Cライブラリのラッパー関数(UnixBenchはgetpid以外をラッパー経由で呼びます)。
probe-signal-install = シグナルハンドラーの登録
probe-signal-install-timed = 番号を直接指定したrt_sigaction。登録済みのハンドラーを登録し直します。
probe-signal-install-excluded = Cライブラリのsigactionが行う構造体の変換。
probe-signal-deliver = 自分自身へのシグナル送信とハンドラーの実行
probe-signal-deliver-timed = kill(自分, SIGUSR1)を呼んでから戻るまで。送信、配送、ハンドラー、sigreturnを含みます。
probe-signal-deliver-excluded = ハンドラーの登録。lmbenchはkill(自分, 0)のコストを差し引きますが、ここでは送信も含みます。
probe-process-fork = プロセス生成。すぐ終了する子プロセスをforkして回収
probe-process-fork-timed = 親プロセスから見た2段階。`create`: forkの直前から親に戻るまで。`reap`: そこからwaitpidが戻るまで(子プロセスの実行と終了を含む)。親と子は同じCPUで動きます。
probe-process-fork-excluded = 親プロセスが小さい(2 MiB未満)ため、forkの最小コストです。メモリを多く使うプログラムではページテーブルのコピーが増えます。
probe-process-ballast = メモリを多く使っている親プロセスのfork
probe-process-ballast-timed = process.forkと同じですが、親プロセスが無名メモリを持っています。`kind=mapped`: マップのみ。`kind=written`: 全ページに書き込み済み。`pages=small` は通常のページ、`pages=huge` は透過的ヒュージページです。
probe-process-ballast-excluded = メモリのマップと書き込み。その後は親も子もメモリにアクセスしないため、ページのコピーは起きません。
probe-process-hold = n個の子プロセスの生成と、1プロセス当たりのメモリ
probe-process-hold-timed = `create`: 最初のforkの直前から最後のforkが親に戻るまでをnで割った時間。そのほかは1プロセス当たりのバイト数で、`pss`(共有分を按分した物理メモリ)、`tables`(ページテーブル)、`kernel`(カーネルスタックなど)、その合計の `memory`、検算用の `available`、`free` による `crude` があります。
probe-process-hold-excluded = 終了と回収。`kernel`、`available`、`crude` はシステム全体の値なので、同時に動いている他のプログラムの影響を受けます。
probe-process-exec = プログラムの起動。fork、execve、回収
probe-process-exec-timed = fork、子プロセスでのexecve、親プロセスでのwaitpidの合計。`tiny`: 3命令だけの静的リンクのプログラム。`dynamic`: 動的リンクの/bin/true。`shell`: /bin/sh -c :
probe-process-exec-excluded = 小さいプログラムの書き出し。プログラムのファイルはページキャッシュにあり、環境変数は空です。
probe-process-teardown = 多数のプロセスを起動し、一斉に終了させる
probe-process-teardown-timed = nで割った2段階の時間。`create`: 最初のforkの直前から全プロセスの起動完了まで。`exit`: 一斉に起こしてから最後の1つを回収するまで。`shape=flat`: 1つのプロセスがすべてを起動。`shape=tree`: 25個ごとに1個の子プロセスを起動し、それが残りの24個を起動。
probe-process-teardown-excluded = 2段階の間の休止(`pause_ms`)と、事前の試行1回。プロセスは小さい(2 MiB未満)ものです。
probe-process-spawn = forkを使わないプログラムの起動
probe-process-spawn-timed = 起動からwaitpidまで。プログラムはprocess.execと同じです。`how=vfork`: CLONE_VFORKとexecve。`how=posixspawn`: Cライブラリ(musl)のposix_spawn。
probe-process-spawn-excluded = process.execと同じ。子プロセスがプログラムを実行するまで親プロセスは停止します。
probe-process-replace = プロセスの置き換え。execveで自分自身を実行
probe-process-replace-timed = 約20命令のプログラムが自分自身をexecveする時間。古いメモリの解放と新しいプログラムの読み込みを含み、プロセスは生成しません。`program=tiny`: 静的リンクで1ページ。`program=dynamic`: Cライブラリを動的リンク。UnixBenchのExecl Throughputに相当します。
probe-process-replace-excluded = なし。ただしサンプルごとに1回のfork、終了、waitpidが含まれます(全体の1%未満)。
probe-thread-create = スレッド生成。すぐ終了するスレッドの生成と回収
probe-thread-create-timed = `create`: pthread_createが戻るまで。`join`: pthread_join(スレッドの実行と終了を含む)。どちらのスレッドも同じCPUで動きます。
probe-thread-create-excluded = なし。使っているCライブラリ(musl)はスタックを毎回マップします。スタックを再利用するglibcのほうが高速です。
probe-thread-hold = n個のスレッドの生成と、1スレッド当たりのメモリ
probe-thread-hold-timed = `create`: 最初のpthread_createの直前から最後が戻るまでをnで割った時間。そのほかは1スレッド当たりのバイト数で、意味はprocess.holdと同じです。
probe-thread-hold-excluded = 終了と回収。スタックはmuslの128 KiBで、待機中のスレッドがアクセスしたのはそのうち1ページです。
probe-pipe-roundtrip = パイプで別プロセスに1バイト送り、返事を受け取るまで
probe-pipe-roundtrip-timed = こちらと相手でのwriteとreadが1回ずつ。プロセスの切り替えが2回起きます。`cpu=same`: 同じCPU。`cpu=other`: 別々のCPU(毎回アイドル状態のCPUを起こします)。`cpu=free`: スケジューラー任せ。
probe-pipe-roundtrip-excluded = 相手プロセスの起動と最初のやり取り。
probe-pipe-throughput = パイプでのデータ転送(1ブロック)
probe-pipe-throughput-timed = `reader=self`: 同じプロセスでwriteとreadを1回ずつ。`reader=other`: 別プロセスが書き続け、こちらが読む時間(プロセスの切り替えを含む)。
probe-pipe-throughput-excluded = 書き込み側の起動と準備、データの生成。
probe-socket-roundtrip = ソケットで別プロセスに1バイト送り、返事を受け取るまで
probe-socket-roundtrip-timed = こちらと相手でのwriteとreadが1回ずつ。`unix`: Unixドメインソケット。`tcp`: 127.0.0.1へのTCP接続(TCP_NODELAY)。
probe-socket-roundtrip-excluded = 接続、相手プロセスの起動、最初のやり取り。
probe-futex-handoff = futexで別プロセスに制御を渡し、返ってくるまで
probe-futex-handoff-timed = 共有メモリの値を変えて相手を起こし(FUTEX_WAKE)、値が戻されるまで待つ(FUTEX_WAIT)。スピンはしません。
probe-futex-handoff-excluded = 相手プロセスの起動と最初のやり取り。ミューテックスや条件変数の追加処理。
probe-epoll-wakeup = epoll_waitで待ちながら、別プロセスと1バイトを往復
probe-epoll-wakeup-timed = pipe.roundtripにepoll_waitを1回加えたもの。
probe-epoll-wakeup-excluded = 相手プロセスの起動、最初のやり取り、ディスクリプターの登録。
probe-file-stat = 既存のファイルのstat
probe-file-stat-timed = 同じファイルを絶対パスで繰り返しstat。パスの探索と属性の取得で、どちらもキャッシュから行われます。
probe-file-stat-excluded = ファイルの作成。ディスクから属性を読む場合の時間。
probe-file-open = 既存のファイルを読み取り用に開いて閉じる
probe-file-open-timed = 同じファイルの、絶対パスによるopenatとcloseの合計。
probe-file-open-excluded = ファイルの作成。読み取りは行いません。
probe-file-create = ファイルを作成し、1バイト書いて閉じ、削除する
probe-file-create-timed = 4段階: `create`(O_CREAT|O_EXCLで開く)、`write`(1バイト)、`close`、`unlink`。
probe-file-create-excluded = ディスクへのフラッシュ。ディレクトリはブロックごとに新しく、ファイルは最大64個です。
probe-file-rename = 同じディレクトリ内でのファイル名の変更
probe-file-rename-timed = 絶対パスによるrenameat。ディレクトリ内の全ファイルを順に別名にし、元に戻します。
probe-file-rename-excluded = ファイルの作成。既存ファイルの置き換え、ディレクトリ間の移動、フラッシュは行いません。
probe-file-symlink = シンボリックリンクを作成し、読み、削除する
probe-file-symlink-timed = 3段階: `create`(symlinkat)、`read`(readlinkat)、`unlink`。
probe-file-symlink-excluded = リンク先をたどる処理。
probe-file-mkdir = ディレクトリを作成し、削除する
probe-file-mkdir-timed = 2段階: `create`(mkdirat)、`remove`(空のディレクトリの削除)。
probe-file-mkdir-excluded = ディスクへのフラッシュ。
probe-file-list = 多数のファイルがあるディレクトリの一覧
probe-file-list-timed = ディレクトリを開き、getdents64で最後まで読み、閉じるまで。`entries` で割ると1件当たりの時間になります。
probe-file-list-excluded = ディレクトリの作成と最初の一覧。並べ替えや属性の取得は行いません(それはfile.walk)。
probe-file-walk = ソースコードのツリーの走査(git statusのような処理)
probe-file-walk-timed = 64個のディレクトリのopenat、getdents64、closeと、各ファイルのnewfstatat。
probe-file-walk-excluded = ツリーの作成と最初の走査。そのため、すべてキャッシュから読まれます。ファイルの中身は読まず、git自身の処理は含みません。
probe-file-read = ページキャッシュにあるファイルから1ブロック読む
probe-file-read-timed = preadで1ブロックずつ、ファイルの先頭から順に繰り返し。
probe-file-read-excluded = ファイルの作成、オープン、最初の読み出し。測定前に、確認できるシステムでは全ページがキャッシュにあることを確認します。
probe-file-write = 新しいファイルをブロック単位で書き、永続化されるまで待つ
probe-file-write-timed = 2段階。`write`: 作成、ブロックごとのwrite、close(mode=fdatasyncとfsyncはclose前に1回同期、mode=directはO_DIRECT)。`settle`: closeしてから、開き直してfsyncし、永続化されるまで。
probe-file-write-excluded = ファイルの削除。データは圧縮しにくいもの(`data=random`)、ddの/dev/zeroと同じゼロ(`data=zero`)、同じ行の繰り返し(`data=text`)のいずれかです。
probe-file-scan = ファイルを先頭から最後までブロック単位で読む
probe-file-scan-timed = open、ブロックごとのread、close。
probe-file-scan-excluded = ファイルの作成とキャッシュの準備。`cache=warm`: ページキャッシュあり。`cache=cold`: 毎回キャッシュから追い出し、追い出せたかどうかを調べます。`cache=dropped`: システム全体のキャッシュを破棄。`cache=direct`: O_DIRECT。デバイスやホスト側のキャッシュの有無は分かりません。
probe-file-random = ファイルのランダムな位置を1ブロック読む、または書く
probe-file-random-timed = 開いたファイルへのpreadまたはpwrite。位置は疑似乱数で決まり、全環境で同じです。
probe-file-random-excluded = ファイルの作成。フラッシュは行わないため、`cache=warm` の書き込みはキャッシュ上のものです。
probe-file-sync = ファイルを1ブロック上書きし、永続化されるまで待つ
probe-file-sync-timed = pwriteとfdatasyncまたはfsync。`how=dsync` はO_DSYNCで開いたファイルへのpwriteのみ。データベースのログのような書き込みです。
probe-file-sync-excluded = ファイルの作成。デバイスの完了応答が本当かどうかは確認しません。
probe-file-copy = キャッシュ上のファイルをバッファー単位で別のファイルへコピー
probe-file-copy-timed = readとwriteを1回ずつ。UnixBenchのFile Copyに相当します。
probe-file-copy-excluded = 両ファイルの作成と最初のコピー。フラッシュは行いません。
probe-file-fault = マップしたファイルのページへの初回アクセス
probe-file-fault-timed = `touch`: 16 MiBのファイルを読み取り用にマップし、全ページをランダムな順に1バイトずつ読む。`unmap`: munmap。
probe-file-fault-excluded = ファイルの作成、オープン、マップ。ファイルはページキャッシュにあります。
probe-memory-fault = 無名メモリのページへの初回アクセス
probe-memory-fault-timed = 新しいメモリの各ページへの書き込み1回。ページフォールト、ゼロクリア、ページテーブルの更新を含みます。
probe-memory-fault-excluded = メモリのマップと解放。ヒュージページは使いません。
probe-memory-map = 無名メモリのマップと解放(アクセスなし)
probe-memory-map-timed = mmapとmunmap。ページにはアクセスしません。
probe-memory-map-excluded = 空き領域を探す時間の大部分。
probe-bystander-latency = 多数のプロセスの起動・終了が他のプロセスに与える影響
probe-bystander-latency-timed = 別のプロセスが1秒に `rate` 回、小さな操作を行います(`op=wake`: タイマーで起きる、`fork`、`map`、`open`)。`storm`: 起動または終了にかかった時間をnで割った値。`calm` と `busy`: 平常時と実行中の応答時間の中央値。`worst`: 実行中の最悪値。`blocked`: 平常時より長く待たされていた時間の割合。
probe-bystander-latency-excluded = 観測用プロセスの起動。応答時間にはタイマーから起きる時間も含まれます。
probe-bystander-writeback = ファイルの書き込みが他のプロセスに与える影響
probe-bystander-writeback-timed = bystander.latencyと同じ測定方法で、対象ディレクトリに `n` MiBのファイルを1 MiBずつfdatasyncしながら書きます。
probe-bystander-writeback-excluded = ファイルの作成と削除。
probe-memory-latency = メモリ読み出しのレイテンシー
probe-memory-latency-timed = 64バイトのキャッシュラインをランダムな順にたどる読み出し1回。プリフェッチは効きません。サイズによってどのキャッシュが応答するかが変わります。
probe-memory-latency-excluded = メモリの確保とリストの作成。ヒュージページは使いません。
probe-memory-bandwidth = メモリ1 MiBのコピー、読み出し、書き込み
probe-memory-bandwidth-timed = `size` バイトのバッファーを繰り返し処理した1 MiB当たりの時間。`copy` はmemcpy、`read` は8バイト単位の加算、`write` は8バイト単位の書き込み。
probe-memory-bandwidth-excluded = メモリの確保と初回アクセス。
probe-script-shell = テキストの並べ替え、ダンプ、検索、集計を行うシェルスクリプト
probe-script-shell-timed = /bin/shが `jobs` 個のスクリプトを同時に起動し、すべての終了を待つまで。sort、od、grep、tee、wcなどを使います。60e9をこの値(ns)で割るとUnixBenchのlpmになります。
probe-script-shell-excluded = テキストの準備と結果の確認。プログラムはその環境のものなので、BusyBoxや別バージョンのcoreutilsでは処理内容が異なります。
