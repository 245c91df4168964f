// A chat request to its prompt, and sampled tokens to the answer's chunks, by cgo over the C face:
//
//	cargo build --release --package openai-harmony-capi
//	cd examples/go && CGO_CFLAGS=-I$PWD/../../capi/include CGO_LDFLAGS=$PWD/../../target/release/libharmony.a go run .
package main

/*
#cgo LDFLAGS: -lpthread -ldl -lm
#include <stdlib.h>
#include "openai_harmony.h"
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"log"
	"unsafe"
)

// Error is what the library says is wrong.
type Error struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Path    string `json:"path"`
}

func (e *Error) Error() string { return e.Kind + ": " + e.Message }

// checked makes a Go error of the library's, which it frees.
func checked(failed *C.HarmonyError) error {
	if failed == nil {
		return nil
	}
	defer C.harmony_error_free(failed)
	var said C.HarmonyBuffer
	defer C.harmony_buffer_free(&said)
	C.harmony_error_json(failed, &said)
	found := &Error{}
	if err := json.Unmarshal(bytesOf(&said), found); err != nil {
		return err
	}
	return found
}

func bytesOf(buffer *C.HarmonyBuffer) []byte {
	return C.GoBytes(unsafe.Pointer(buffer.data), C.int(buffer.len))
}

// input is a text as the library takes it; the bytes stay alive during the call.
func input(text string) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text))
}

// Encode gives the token ids of a text, in which names of special tokens count.
func Encode(text string) ([]uint32, error) {
	var tokens C.HarmonyTokens
	defer C.harmony_tokens_free(&tokens)
	data, size := input(text)
	if err := checked(C.harmony_encode(data, size, C.HARMONY_SPECIAL, &tokens)); err != nil {
		return nil, err
	}
	return idsOf(&tokens), nil
}

func idsOf(tokens *C.HarmonyTokens) []uint32 {
	return append([]uint32(nil), unsafe.Slice((*uint32)(unsafe.Pointer(tokens.data)), int(tokens.len))...)
}

// Turn is a request that was read.
type Turn struct{ handle *C.HarmonyTurn }

// Read reads the body of a chat request.
func Read(body, options string) (*Turn, error) {
	turn := &Turn{}
	data, size := input(body)
	more, moreSize := input(options)
	return turn, checked(C.harmony_turn_read(C.HARMONY_CHAT_COMPLETIONS, data, size, more, moreSize, &turn.handle))
}

// Prompt gives the token ids that the engine continues.
func (t *Turn) Prompt() ([]uint32, error) {
	var tokens C.HarmonyTokens
	defer C.harmony_tokens_free(&tokens)
	if err := checked(C.harmony_turn_prompt(t.handle, &tokens, nil)); err != nil {
		return nil, err
	}
	return idsOf(&tokens), nil
}

// Close frees the turn.
func (t *Turn) Close() { C.harmony_turn_free(t.handle) }

// Answer streams the chunks of sampled tokens, one token at a time, to a function.
func (t *Turn) Answer(options string, sampled []uint32, send func([]byte)) error {
	var reply *C.HarmonyReply
	data, size := input(options)
	if err := checked(C.harmony_turn_reply(t.handle, data, size, &reply)); err != nil {
		return err
	}
	defer C.harmony_reply_free(reply)
	var chunks C.HarmonyBuffer // used again for each token
	defer C.harmony_buffer_free(&chunks)
	for index := range sampled {
		chunks.len = 0
		token := (*C.uint32_t)(unsafe.Pointer(&sampled[index]))
		if err := checked(C.harmony_reply_feed(reply, token, 1, &chunks)); err != nil {
			return err
		}
		send(bytesOf(&chunks))
	}
	chunks.len = 0
	if err := checked(C.harmony_reply_finish(reply, C.HARMONY_STOP, nil, 0, &chunks)); err != nil {
		return err
	}
	send(bytesOf(&chunks))
	return nil
}

func main() {
	turn, err := Read(`{"messages": [{"role": "user", "content": "2 + 2?"}], "stream": true}`, `{"date": "2026-01-31"}`)
	if err != nil {
		log.Fatal(err)
	}
	defer turn.Close()
	prompt, err := turn.Prompt()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d tokens\n", len(prompt))
	// An engine continues the prompt; here its tokens are a text's.
	sampled, err := Encode("<|channel|>final<|message|>4.<|return|>")
	if err != nil {
		log.Fatal(err)
	}
	err = turn.Answer(`{"model": "gpt-oss"}`, sampled, func(chunk []byte) { fmt.Print(string(chunk)) })
	if err != nil {
		log.Fatal(err)
	}
	if _, err = Read(`{"messages": "Hi"}`, "{}"); err != nil {
		fmt.Println(err)
	}
}
