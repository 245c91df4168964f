/* Does what it reads, through the C face, and writes what came of it: tests/python/test_capi.py asks and compares.
 *
 * A request is an operation and its parts, an answer a status and its bytes, all numbers little-endian uint32:
 *     operation, number of parts, then for each part its length and bytes  ->  0 or 1 for an error, length, bytes
 * All requests are read first. Then several threads do all of them at once, and a child after fork does so again;
 * the program ends with 1 if they differ.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openai_harmony.h"

enum { ENCODE = 1, PARSE = 2, RENDER = 3, ANSWER = 4, STREAM = 5 };
enum { MOST_PARTS = 8, THREADS = 4 };

typedef struct {
  const uint8_t *data;
  size_t len;
} Part;

typedef struct {
  uint32_t operation, count;
  Part parts[MOST_PARTS];
} Request;

static Request *requests;
static size_t request_count;

static uint32_t number(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }

static void put(HarmonyBuffer *to, const void *data, size_t len) {
  harmony_buffer_reserve(to, len);
  if (len != 0) memcpy(to->data + to->len, data, len);
  to->len += len;
}

/* Parts of tokens are aligned by a copy. */
static uint32_t *tokens_of(Part part) {
  uint32_t *tokens = malloc(part.len + 4);
  if (part.len != 0) memcpy(tokens, part.data, part.len);
  return tokens;
}

/* A body, its options, those of the answer, sampled tokens, how many are fed at once. The answer is saved and restored
 * between all pieces. */
static HarmonyError *answer(const Request *ask, HarmonyBuffer *out) {
  const Part *part = ask->parts;
  HarmonyTurn *turn = NULL;
  HarmonyReply *reply = NULL;
  HarmonyTokens prompt = {0};
  HarmonyBuffer saved = {0};
  uint32_t *tokens = tokens_of(part[4]);
  size_t count = part[4].len / 4, step = number(part[5].data);
  HarmonyError *error =
      harmony_turn_read(number(part[0].data), part[1].data, part[1].len, part[2].data, part[2].len, &turn);
  if (!error) error = harmony_turn_prompt(turn, &prompt, NULL);
  if (!error) put(out, prompt.data, prompt.len * 4);
  if (!error) error = harmony_turn_describe(turn, out);
  if (!error) error = harmony_turn_reply(turn, part[3].data, part[3].len, &reply);
  for (size_t at = 0; !error && at < count; at += step) {
    error = harmony_reply_feed(reply, tokens + at, count - at < step ? count - at : step, out);
    saved.len = 0;
    if (!error) error = harmony_reply_save(reply, &saved);
    harmony_reply_free(reply);
    reply = NULL;
    if (!error) error = harmony_reply_restore(turn, saved.data, saved.len, NULL, 0, &reply);
  }
  if (!error) error = harmony_reply_finish(reply, HARMONY_STOP, NULL, 0, out);
  if (!error) error = harmony_reply_response(reply, out);
  if (!error) error = harmony_reply_describe(reply, out);
  free(tokens);
  harmony_reply_free(reply);
  harmony_turn_free(turn);
  harmony_tokens_free(&prompt);
  harmony_buffer_free(&saved);
  return error;
}

/* Tokens and options of a parser, which is fed one by one, and saved and restored in the middle. */
static HarmonyError *stream(const Request *ask, HarmonyBuffer *out) {
  HarmonyParser *parser = NULL;
  HarmonyBuffer saved = {0};
  uint32_t *tokens = tokens_of(ask->parts[0]);
  size_t count = ask->parts[0].len / 4;
  HarmonyError *error = harmony_parser_new(ask->parts[1].data, ask->parts[1].len, &parser);
  for (size_t at = 0; !error && at < count; at++) {
    error = harmony_parser_feed(parser, tokens + at, 1, out);
    if (!error && at == count / 2) {
      error = harmony_parser_save(parser, &saved);
      harmony_parser_free(parser);
      parser = NULL;
      if (!error) error = harmony_parser_restore(saved.data, saved.len, &parser);
    }
  }
  if (!error) error = harmony_parser_finish(parser, out);
  if (!error) error = harmony_parser_describe(parser, out);
  free(tokens);
  harmony_parser_free(parser);
  harmony_buffer_free(&saved);
  return error;
}

static HarmonyError *run(const Request *ask, HarmonyBuffer *out) {
  const Part *part = ask->parts;
  HarmonyTokens made = {0};
  HarmonyError *error = NULL;
  uint32_t *tokens = NULL;
  switch (ask->operation) {
    case ENCODE:
      error = harmony_encode(part[0].data, part[0].len, number(part[1].data), &made);
      if (!error) error = harmony_decode(made.data, made.len, out);
      break;
    case PARSE:
      tokens = tokens_of(part[0]);
      error = harmony_parse(tokens, part[0].len / 4, part[1].data, part[1].len, out);
      break;
    case RENDER:
      error = harmony_render(part[0].data, part[0].len, part[1].data, part[1].len, &made, out);
      break;
    case ANSWER:
      error = answer(ask, out);
      break;
    default:
      error = stream(ask, out);
  }
  put(out, made.data, made.len * 4);
  free(tokens);
  harmony_tokens_free(&made);
  return error;
}

/* All answers, and those that any thread has to give: API answers have ids and durations. */
typedef struct {
  HarmonyBuffer all, equal;
} Answers;

static void *run_all(void *to) {
  Answers *answers = to;
  HarmonyBuffer out = {0};
  for (size_t each = 0; each < request_count; each++) {
    out.len = 0;
    HarmonyError *error = run(&requests[each], &out);
    uint32_t head[2] = {error != NULL, 0};
    if (error) {
      out.len = 0;
      harmony_error_free(harmony_error_json(error, &out));
      harmony_error_free(error);
    }
    head[1] = (uint32_t)out.len;
    put(&answers->all, head, sizeof head);
    put(&answers->all, out.data, out.len);
    if (requests[each].operation != ANSWER) put(&answers->equal, out.data, out.len);
  }
  harmony_buffer_free(&out);
  return NULL;
}

static int differ(const HarmonyBuffer *one, const HarmonyBuffer *other) {
  return one->len != other->len || memcmp(one->data, other->data, one->len) != 0;
}

int main(void) {
  HarmonyBuffer input = {0};
  Answers answers[THREADS] = {{{0}, {0}}}, again = {{0}, {0}};
  uint8_t block[65536];
  for (size_t got; (got = fread(block, 1, sizeof block, stdin)) > 0;) put(&input, block, got);
  for (size_t at = 0; at < input.len;) {
    requests = realloc(requests, (request_count + 1) * sizeof *requests);
    Request *ask = &requests[request_count++];
    *ask = (Request){number(input.data + at), number(input.data + at + 4), {{0}}};
    at += 8;
    for (uint32_t each = 0; each < ask->count; each++) {
      ask->parts[each] = (Part){input.data + at + 4, number(input.data + at)};
      at += 4 + ask->parts[each].len;
    }
  }
  pthread_t threads[THREADS];
  for (int each = 0; each < THREADS; each++) pthread_create(&threads[each], NULL, run_all, &answers[each]);
  for (int each = 0; each < THREADS; each++) pthread_join(threads[each], NULL);
  int failed = 0, status = 0;
  for (int each = 1; each < THREADS; each++) failed |= differ(&answers[0].equal, &answers[each].equal);
  fwrite(answers[0].all.data, 1, answers[0].all.len, stdout);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    run_all(&again);
    status = differ(&answers[0].equal, &again.equal);
    harmony_buffer_free(&again.all);
    harmony_buffer_free(&again.equal);
  } else {
    waitpid(child, &status, 0);
    status = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  for (int each = 0; each < THREADS; each++) {
    harmony_buffer_free(&answers[each].all);
    harmony_buffer_free(&answers[each].equal);
  }
  harmony_buffer_free(&input);
  free(requests);
  return failed | status;
}
