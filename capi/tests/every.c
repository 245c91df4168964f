/* Calls every function of the header, from four threads and in a child: for compilers of C, and for valgrind.
 * test_capi.py compares what they give.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openai_harmony.h"

#define TEXT(text) (const uint8_t *)(text), sizeof(text) - 1

/* Ends the program if an error was, or was not, expected. */
static void is(int expected, HarmonyError *error, const char *call) {
  HarmonyBuffer said = {0};
  if (error != NULL) harmony_error_free(harmony_error_json(error, &said));
  if (expected != (error != NULL)) {
    fprintf(stderr, "%s: %.*s\n", call, (int)said.len, (const char *)said.data);
    exit(1);
  }
  harmony_error_free(error);
  harmony_buffer_free(&said);
}
#define DONE(call) is(0, call, #call)
#define FAILS(call) is(1, call, #call)

static void parse(const HarmonyTokens *sampled, HarmonyBuffer *out) {
  HarmonyParser *parser = NULL, *moved = NULL;
  HarmonyBuffer saved = {0};
  DONE(harmony_decode(sampled->data, sampled->len, out));
  DONE(harmony_parse(sampled->data, sampled->len, NULL, 0, out));
  FAILS(harmony_parser_new(TEXT("{"), &parser));
  DONE(harmony_parser_new(TEXT("{\"role\": \"assistant\"}"), &parser));
  DONE(harmony_parser_feed(parser, sampled->data, 2, out));
  DONE(harmony_parser_save(parser, &saved));
  DONE(harmony_parser_restore(saved.data, saved.len, &moved));
  FAILS(harmony_parser_restore(saved.data, saved.len / 2, &moved));
  DONE(harmony_parser_feed(moved, sampled->data + 2, sampled->len - 2, out));
  DONE(harmony_parser_finish(moved, out));
  DONE(harmony_parser_describe(moved, out));
  harmony_parser_free(parser);
  harmony_parser_free(moved);
  harmony_buffer_free(&saved);
}

static void answer(const HarmonyTurn *turn, const HarmonyTokens *sampled, HarmonyBuffer *out) {
  HarmonyReply *reply = NULL, *moved = NULL, *broken = NULL;
  HarmonyBuffer saved = {0};
  DONE(harmony_turn_reply(turn, TEXT("{\"model\": \"m\"}"), &reply));
  DONE(harmony_turn_reply(turn, TEXT("{\"model\": \"m\"}"), &broken));
  DONE(harmony_reply_feed(reply, sampled->data, sampled->len, out));
  DONE(harmony_reply_save(reply, &saved));
  DONE(harmony_reply_restore(turn, saved.data, saved.len, &moved));
  FAILS(harmony_reply_finish(moved, 3, NULL, 0, out));
  DONE(harmony_reply_finish(moved, HARMONY_STOP, TEXT("stop"), out));
  DONE(harmony_reply_response(moved, out));
  DONE(harmony_reply_describe(moved, out));
  DONE(harmony_reply_fail(broken, 503, TEXT("The engine broke."), out));
  harmony_reply_free(reply);
  harmony_reply_free(moved);
  harmony_reply_free(broken);
  harmony_buffer_free(&saved);
}

static void *run(void *shared) {
  const HarmonyTurn *turn = shared;
  HarmonyBuffer out = {0}, end = {0};
  HarmonyTokens tokens = {0}, sampled = {0};
  HarmonyEngine *engine = NULL;
  DONE(harmony_turn_prompt(turn, &tokens, &out));
  DONE(harmony_turn_describe(turn, &out));
  DONE(harmony_turn_grammar(turn, HARMONY_GBNF, &out));
  DONE(harmony_stop_tokens(&tokens));
  DONE(harmony_special_tokens(&out));
  DONE(harmony_render(TEXT("{\"messages\": []}"), TEXT("{\"prefill\": {\"channel\": \"final\"}}"), &tokens, NULL));
  FAILS(harmony_render(TEXT("{"), NULL, 0, &tokens, NULL));
  DONE(harmony_encode(TEXT("<|channel|>final<|message|>H\u00f6he \U0001f980<|return|>"), HARMONY_SPECIAL, &sampled));
  DONE(harmony_engine_new(HARMONY_COMPLETIONS, 99, NULL, 0, &engine));
  DONE(harmony_engine_feed(engine, TEXT("data: {\"choices\": [{\"token_ids\": [1]}]}\n\n"), &tokens, &end));
  DONE(harmony_engine_feed(engine, NULL, 0, &tokens, &end));
  harmony_engine_free(engine);
  parse(&sampled, &out);
  answer(turn, &sampled, &out);
  harmony_tokens_free(&tokens);
  harmony_tokens_free(&sampled);
  harmony_buffer_free(&out);
  harmony_buffer_free(&end);
  return NULL;
}

int main(void) {
  const uint8_t *body = (const uint8_t *)"{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"stream\": true}";
  HarmonyTurn *turn = NULL;
  HarmonyBuffer room = {0};
  pthread_t threads[4];
  int ended = 0;
  FAILS(harmony_turn_read(HARMONY_RESPONSES, body, strlen((const char *)body), NULL, 0, &turn));
  harmony_buffer_reserve(&room, 100); /* An input may be written into a buffer. */
  memcpy(room.data, body, room.len = strlen((const char *)body));
  DONE(harmony_turn_read(HARMONY_CHAT_COMPLETIONS, room.data, room.len, NULL, 0, &turn));
  for (int each = 0; each < 4; each++) pthread_create(&threads[each], NULL, run, turn);
  for (int each = 0; each < 4; each++) pthread_join(threads[each], NULL);
  pid_t child = fork();
  run(turn);
  if (child != 0) waitpid(child, &ended, 0);
  harmony_turn_free(turn);
  harmony_buffer_free(&room);
  return ended != 0 || strlen(harmony_version()) == 0;
}
