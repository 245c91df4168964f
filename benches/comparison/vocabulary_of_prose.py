"""The words that the made texts draw from, the frequent first."""

from __future__ import annotations

COMMON = """
the of and to in a is that for it as was with be by on not he this are or his from at which but
have an had they you were their one all we can her has there been if more when will would who so
no out up into do any your what about than its time only could new other some them these two may
then first also after over such even most made where way because many between must through years
before much should well people down own just good each how those still us work long life same
being under both never day while last might great old year off come since against go came right
used take three small place without found however thought went again world course part number
""".split()

PLAIN = """
house water night letter system question morning city road answer window river teacher doctor
garden market paper table music story winter summer village mountain island kitchen picture
history science language reason problem result example change order service company government
street family friend mother father brother sister child student engineer captain driver farmer
weather storm cloud light shadow silence voice memory promise journey bridge harbour forest field
machine engine signal pattern surface measure weight speed temperature pressure distance account
budget contract report meeting project schedule version release customer supplier price balance
region border station library museum theatre festival tradition election minister committee
council evidence argument theory method experiment sample average estimate error margin source
battery circuit network protocol packet server client database table index query cache buffer
thread process memory kernel module function variable constant pointer string integer
""".split()

VERBS = """
walk carry open close follow remember consider explain suggest require provide include produce
return compare measure describe discover improve reduce increase support replace remove arrange
deliver collect connect prepare present protect publish receive record repair select separate
settle travel trust understand wander whisper wonder write build choose draw drive hold keep leave
""".split()

ADJECTIVES = """
quiet early narrow distant familiar ancient modern public private careful sudden gentle bitter
bright heavy simple complex certain possible likely rare common strange broad shallow deep warm
cold empty crowded cheap expensive honest curious patient stubborn reliable fragile obvious subtle
""".split()

BEGINNINGS = "un re dis over under inter counter micro semi non pre trans sub".split()
ENDINGS = "s ed ing er ly ness able ment al ful less ize ization ous ism ist ative".split()

SYLLABLES = """
ka ro min del tor vas li en mar bek stra ul hol dri no wen fal gar tis pe lo ran qui zha ber ost
ing ham ford ville mont sk ov ic ez tha bri cul dane el fro gwy
""".split()

CHINESE = """
的 一 是 在 不 了 有 和 人 这 中 大 为 上 个 国 我 以 要 他 时 来 用 们 生 到 作 地 于 出 就 分 对 成 会 可 主 发 年 动
我们 他们 可以 因为 所以 但是 如果 已经 没有 问题 时间 工作 学习 天气 今天 明天 城市 公司 系统 数据 模型 语言 文化
北京 上海 经济 发展 技术 研究 结果 方法 世界 历史 社会 关系 重要 需要 认为 通过 进行 提供 使用 用户 信息 服务 安全
""".split()

JAPANESE = """
の に は を た が で て と し れ さ ある いる も する から な こと として い や など なる へ か だ これ よう その それ
天気 東京 今日 明日 時間 会社 学校 電車 仕事 問題 結果 方法 世界 歴史 言葉 研究 開発 利用 必要 可能 説明 変更 確認
データ システム サーバー ユーザー モデル プログラム ファイル テスト エラー メッセージ サービス コンピューター
ください ました でした ています について によって ところ ありがとう 思います
""".split()

KOREAN = """
이 그 저 것 수 등 및 를 을 은 는 에서 으로 하고 그리고 하지만 그래서 때문에 사람 시간 오늘 내일 날씨 서울 부산 회사
학교 문제 결과 방법 세계 역사 언어 연구 개발 사용 필요 가능 설명 변경 확인 데이터 시스템 서버 사용자 모델 파일 오류
합니다 있습니다 했습니다 됩니다 입니다 주세요 감사합니다 생각합니다 알려줘 무엇 어떻게 왜냐하면
""".split()

ELSEWHERE = """
Größe über Straße früher möglich señor mañana canción niño año été déjà façon être garçon naïve
привет сегодня погода хорошо почему данные система можно спасибо ответ วันนี้ อากาศ ขอบคุณ
مرحبا اليوم الطقس شكرا नमस्ते आज मौसम धन्यवाद γεια σήμερα καιρός ευχαριστώ
""".split()

EMOJI = "🙂 🚀 🎉 ✅ ⚠️ ❤️ 👍🏽 👩‍💻 🇯🇵 🌦️ 🤷🏽‍♀️ 📦 🔥 😅 🧪".split()
