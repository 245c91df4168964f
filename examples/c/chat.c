/* A chat request to its prompt, and sampled tokens to the answer's chunks:
 *
 *     cargo build --release --package openai-harmony-capi
 *     cc -Icapi/include examples/c/chat.c target/release/libharmony.a -lpthread -ldl -lm -o chat && ./chat
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openai_harmony.h"

#define TEXT(text) (const uint8_t *)(text), strlen(text)

/* Ends the program with the error, an object of JSON with kind, message and path. */
static void check(HarmonyError *error) {
  if (error == NULL) return;
  HarmonyBuffer said = {0};
  harmony_error_free(harmony_error_json(error, &said));
  fprintf(stderr, "%.*s\n", (int)said.len, (const char *)said.data);
  exit(1);
}

int main(void) {
  const char *body = "{\"messages\": [{\"role\": \"user\", \"content\": \"2 + 2?\"}], \"stream\": true}";
  HarmonyTurn *turn = NULL;
  check(harmony_turn_read(HARMONY_CHAT_COMPLETIONS, TEXT(body), TEXT("{\"date\": \"2026-01-31\"}"), &turn));
  HarmonyTokens prompt = {0};
  check(harmony_turn_prompt(turn, &prompt, NULL));
  printf("%zu tokens\n", prompt.len);

  /* An engine continues the prompt; here its tokens are a text's. */
  HarmonyTokens sampled = {0};
  check(harmony_encode(TEXT("<|channel|>final<|message|>4.<|return|>"), HARMONY_SPECIAL, &sampled));
  HarmonyReply *reply = NULL;
  HarmonyBuffer chunks = {0};
  check(harmony_turn_reply(turn, TEXT("{\"model\": \"gpt-oss\"}"), &reply));
  for (size_t at = 0; at < sampled.len; at++) check(harmony_reply_feed(reply, sampled.data + at, 1, &chunks));
  check(harmony_reply_finish(reply, HARMONY_STOP, NULL, 0, &chunks));
  fwrite(chunks.data, 1, chunks.len, stdout);

  harmony_reply_free(reply);
  harmony_turn_free(turn);
  harmony_tokens_free(&prompt);
  harmony_tokens_free(&sampled);
  harmony_buffer_free(&chunks);
  return 0;
}
