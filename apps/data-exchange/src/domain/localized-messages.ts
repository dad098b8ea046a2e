import { formatMessage, placeholderCount, type MessageValue } from '@plinth/kernel/message';
import type { MessageTexts } from './message-texts';

/** A tenant's text that says a value over and over makes a response as large as it likes; beyond this it is in English. */
const MESSAGE_LENGTH_MAX = 5_000;
/** To find that out, a report of a thousand rows would take seconds: a text with more is not even filled. */
const PLACEHOLDERS_MAX = 20;

/** Messages in the texts of a tenant, as far as a response has room for them. */
export class LocalizedMessages {
  /** @param room in characters of JSON */
  constructor(
    private readonly texts: MessageTexts,
    private room: number,
  ) {}

  /** The text with its values; undefined where there is none, or no room for it. */
  fill(key: keyof MessageTexts['byKey'], values: readonly MessageValue[]): string | undefined {
    const { culture, byKey } = this.texts;
    const text = byKey[key];
    if (text === undefined || this.room <= 0 || placeholderCount(text) > PLACEHOLDERS_MAX) return undefined;
    const message = formatMessage(text, values, { culture });
    return this.takeRoom(message) ? message : undefined;
  }

  /** One that is too long takes room as well: it was made, and so would be the next ones. */
  private takeRoom(message: string): boolean {
    const isTooLong = message.length > MESSAGE_LENGTH_MAX;
    this.room -= isTooLong ? message.length : JSON.stringify(message).length;
    return !isTooLong && this.room >= 0;
  }
}
