/** The names of upstream's unpublished package, and of openai-harmony 0.4 on npm. */
import type { Conversation, Harmony, Message, Role } from "./index.d.ts";

export enum StreamState {
  ExpectStart = 0,
  Header = 1,
  Content = 2,
}

export function load_harmony_encoding(name: string, base_url?: string | null): Promise<JsHarmonyEncoding>;

export class JsHarmonyEncoding {
  private constructor();
  readonly harmony: Harmony;
  readonly name: string;
  renderConversationForCompletion(conversation: Conversation, nextTurnRole: Role, config?: { auto_drop_analysis?: boolean }): Uint32Array;
  renderConversation(conversation: Conversation, config?: { auto_drop_analysis?: boolean }): Uint32Array;
  renderConversationForTraining(conversation: Conversation, config?: { auto_drop_analysis?: boolean }): Uint32Array;
  render(message: Message, options?: { conversation_has_function_tools?: boolean }): Uint32Array;
  /** The messages as JSON. */
  parseMessagesFromCompletionTokens(tokens: Uint32Array | number[], role?: Role | null): string;
  decodeUtf8(tokens: Uint32Array | number[]): string;
  decodeBytes(tokens: Uint32Array | number[]): Uint8Array;
  encode(text: string, allowedSpecial?: Iterable<string>): Uint32Array;
  specialTokens(): string[];
  isSpecialToken(token: number): boolean;
  stopTokens(): Uint32Array;
  stopTokensForAssistantActions(): Uint32Array;
}

export class JsStreamableParser {
  constructor(encoding: JsHarmonyEncoding, role?: Role | null);
  process(token: number): void;
  readonly currentContent: string;
  readonly currentRole: string;
  readonly currentContentType: string;
  readonly currentRecipient: string;
  readonly currentChannel: string;
  readonly lastContentDelta: string;
  readonly messages: string;
  readonly tokens: Uint32Array;
  readonly state: string;
  free(): void;
}
