// llama.cpp's reading of what gpt-oss samples, for peers.py: JSON cases on standard input, answers on standard output.
// Its templates choose the reader by `<|channel|>`; this one has the end of gpt-oss's prompt, and nothing else of it.

#include <iostream>
#include <nlohmann/json.hpp>

#include "chat.h"

static const char * TEMPLATE =
    "{# <|channel|> #}{% if add_generation_prompt %}<|start|>assistant{% endif %}";

static nlohmann::json read(const nlohmann::json & asked, const common_chat_templates * templates) {
    common_chat_templates_inputs inputs;
    common_chat_msg              said;
    said.role    = "user";
    said.content = "Hello";
    inputs.messages         = { said };
    inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
    for (const std::string name : asked["tools"]) {
        inputs.tools.push_back({ name, "", R"({"type":"object"})" });
    }
    auto made = common_chat_templates_apply(templates, inputs);
    common_chat_parser_params params(made);
    params.reasoning_format = inputs.reasoning_format;
    params.parser.load(made.parser);
    auto found = common_chat_parse(asked["text"], false, params);
    auto calls = nlohmann::json::array();
    for (const auto & call : found.tool_calls) {
        calls.push_back({ call.name, call.arguments });
    }
    return { { "thoughts", found.reasoning_content }, { "text", found.content }, { "calls", calls } };
}

int main() {
    auto templates = common_chat_templates_init(nullptr, TEMPLATE);
    auto answers   = nlohmann::json::array();
    for (const auto & asked : nlohmann::json::parse(std::cin)) {
        try {
            answers.push_back(read(asked, templates.get()));
        } catch (const std::exception & error) {
            answers.push_back({ { "error", std::string(error.what()).substr(0, 200) } });
        }
    }
    std::cout << answers.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
