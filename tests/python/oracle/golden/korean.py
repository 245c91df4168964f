"""The conversations of the guide's Korean version, which translates its examples."""

from __future__ import annotations

from typing import Any

from openai_harmony import ToolNamespaceConfig

from .case import Case, call, completion, developer, functions, message, single, system
from .guide import (
    ANSWER,
    RECIPIENT,
    RESULT,
    get_current_weather,
    get_location,
    get_multiple_weathers,
)

#: The Korean text at hand has lost the line breaks of its listings.
COLLAPSED = "white space"

QUESTION = message("user", "2 + 2는 뭐야?")
THOUGHT = message(
    "assistant",
    '사용자가 묻습니다: "2 + 2는 뭐야?" 간단한 산수입니다. 답을 제공하세요.',
    channel="analysis",
)
WITH_TOOLS = [
    system(),
    developer(
        instructions="친근한 톤을 사용하세요.",
        tools=functions(
            get_location("사용자의 위치를 가져옵니다."),
            get_current_weather(
                "제공된 위치의 현재 날씨를 가져옵니다.", "도시와 주, 예: San Francisco, CA"
            ),
            get_multiple_weathers(
                "제공된 위치 목록의 현재 날씨를 가져옵니다.",
                '도시와 주 목록, 예: ["San Francisco, CA", "New York, NY"]',
            ),
        ),
    ),
    message("user", "SF 날씨는 어때?"),
]
CALL = [
    message("assistant", "get_current_weather 함수를 사용해야 합니다.", channel="analysis"),
    call("get_current_weather", '{"location":"San Francisco"}'),
]


#: The Korean text names no sections: these are the English names of those it translates.
def listing(section: str, *differs: str) -> dict[str, Any]:
    return {"sections": {"ko": section}, "differs": [*differs, COLLAPSED]}


def cases() -> list[Case]:
    return [*_conversations(), *_built_in_tools()]


def _conversations() -> list[Case]:
    call_text = (
        "<|channel|>analysis<|message|>get_current_weather 함수를 사용해야 합니다.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.get_current_weather "
        '<|constrain|>json<|message|>{"location":"San Francisco"}<|call|>'
    )
    preamble = (
        "**액션 플랜**:\n1. HTML 파일 생성\n2. Node.js 서버용 JavaScript 생성\n3. 서버 시작\n---\n"
        "단계별로 계획을 실행하겠습니다"
    )
    return [
        Case(
            "guide-ko-chat-input",
            "One question.",
            [QUESTION],
            completion(),
            guide=listing("Chat conversation format"),
        ),
        Case(
            "guide-ko-chat-output",
            "Thoughts and answer.",
            [THOUGHT, ANSWER],
            parse={"role": "assistant"},
            text="<|channel|>analysis<|message|>"
            '사용자가 묻습니다: "2 + 2는 뭐야?" 간단한 산수입니다. 답을 제공하세요.<|end|>'
            "<|start|>assistant<|channel|>final<|message|>2 + 2 = 4.<|return|>",
            guide=listing("Chat conversation format"),
        ),
        Case(
            "guide-ko-reasoning-next-turn",
            "The next prompt drops the thoughts before the answer.",
            [QUESTION, THOUGHT, ANSWER, message("user", "9 / 2는?")],
            completion(),
            guide=listing("Reasoning"),
        ),
        Case(
            "guide-ko-functions",
            "Function tools.",
            WITH_TOOLS,
            completion(),
            guide=listing("Function calling"),
        ),
        Case(
            "guide-ko-tool-call",
            "A call as the model writes it.",
            CALL,
            parse={"role": "assistant"},
            text=call_text,
            guide=listing("Function calling"),
        ),
        Case(
            "guide-ko-tool-history",
            "The prompt that gives a tool's result back.",
            [*WITH_TOOLS, *CALL, RESULT],
            completion(),
            guide=listing("Function calling", RECIPIENT),
        ),
        Case(
            "guide-ko-preamble",
            "A preamble for the user, then a call.",
            [
                message("assistant", "{긴 체인 오브 쏘트}", channel="analysis"),
                message("assistant", preamble, channel="commentary"),
                call("generate_file", '{"template": "basic_html", "path": "index.html"}'),
            ],
            parse={"role": "assistant"},
            text="<|channel|>analysis<|message|>{긴 체인 오브 쏘트}<|end|><|start|>assistant"
            f"<|channel|>commentary<|message|>{preamble}<|end|><|start|>assistant"
            "<|channel|>commentary to=functions.generate_file<|constrain|>json<|message|>"
            '{"template": "basic_html", "path": "index.html"}<|call|>',
            guide=listing("Preambles"),
        ),
        _structured_output(),
    ]


def _structured_output() -> Case:
    schema = {
        "properties": {
            "items": {
                "type": "array",
                "description": "쇼핑 리스트의 항목들",
                "items": {"type": "string"},
            }
        },
        "type": "object",
    }
    shopping = message("user", "커피, 탄산음료, 달걀을 사야 해")
    return Case(
        "guide-ko-structured-output",
        "A response format; 0.0.8 renders the guide's text as plain content.",
        [
            developer(
                instructions="당신은 도움이 되는 쇼핑 도우미입니다",
                response_formats=[{"name": "shopping_list", "schema": schema}],
            ),
            shopping,
        ],
        completion(),
        guide=listing("Structured output"),
        asked=[
            message(
                "developer",
                "# Instructions\n\n당신은 도움이 되는 쇼핑 도우미입니다\n\n"
                "# Response Formats\n\n## shopping_list\n\n"
                '{"properties":{"items":{"type":"array","description":"쇼핑 리스트의 항목들",'
                '"items":{"type":"string"}}},"type":"object"}',
            ),
            shopping,
        ],
    )


def _built_in_tools() -> list[Case]:
    browser = ToolNamespaceConfig.browser().model_dump(exclude_none=True)
    browser["description"] = BROWSER
    for tool, description in zip(browser["tools"], (SEARCH, OPEN, FIND)):
        tool["description"] = description
    python = {"name": "python", "description": PYTHON, "tools": []}
    return [
        Case(
            "guide-ko-browser",
            "The browser with its texts in Korean.",
            [system(tools={"browser": browser})],
            single(),
            guide=listing("Browser tool"),
        ),
        Case(
            "guide-ko-python",
            "The notebook with its text in Korean.",
            [system(tools={"python": python})],
            single(),
            guide=listing("Python tool"),
        ),
    ]


BROWSER = """\
브라우징을 위한 도구.
`cursor`는 각 브라우징 표시 앞에서 대괄호로 나타납니다: `[{cursor}]`.
도구에서 나온 정보를 다음 형식으로 인용하세요:
`【{cursor}†L{line_start}(-L{line_end})?】`, 예: `【6†L9-L11】` 또는 `【8†L3】`.
도구 출력에서 10단어를 초과하여 직접 인용하지 마세요.
sources=web (default: web)"""

SEARCH = "`query`와 관련된 정보를 검색하고 `topn`개 결과를 표시합니다."

OPEN = """\
`cursor`가 가리키는 페이지에서 `loc` 라인부터 `num_lines`줄을 보여주며 링크 `id`를 엽니다.
유효한 링크 id는 `【{id}†.*】` 형식으로 표시됩니다.
`cursor`가 제공되지 않으면 가장 최근 페이지가 암묵적으로 사용됩니다.
`id`가 문자열이면 `source`와 연결된 완전한 URL로 취급됩니다.
`loc`가 제공되지 않으면 뷰포트는 문서 시작 또는 (가능하면) 가장 관련 있는 구절을 중심으로 \
위치합니다.
열린 페이지의 새로운 위치로 스크롤하려면 `id` 없이 이 함수를 사용하세요."""

FIND = "현재 페이지 또는 `cursor`가 지정한 페이지에서 `pattern`의 정확한 일치를 찾습니다."

PYTHON = """\
이 도구는 체인 오브 쏘트에서 Python 코드를 실행하는 데 사용하세요. \
코드는 사용자에게 표시되지 않습니다. \
이 도구는 내부 추론을 위해 사용해야 하며, \
사용자에게 보이도록 의도된 코드(예: 플롯, 표, 파일 생성)는 포함하지 않아야 합니다.

Python 코드가 포함된 메시지를 python에 보내면, 상태를 유지하는 Jupyter 노트북 환경에서 실행됩니다. \
python은 실행 결과를 응답하거나 120.0초 후 타임아웃됩니다. \
'/mnt/data' 드라이브는 사용자 파일을 저장 및 지속(persist)하는 데 사용할 수 있습니다. \
이 세션의 인터넷 접근 가능 여부는 UNKNOWN입니다. \
클러스터에 따라 달라집니다."""
