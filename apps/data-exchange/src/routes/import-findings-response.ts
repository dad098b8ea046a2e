import type { IncomingMessage } from 'node:http';
import { formatFindings } from '@plinth/contracts/data-exchange/format-findings';
import type { Caller } from '@plinth/kernel/caller';
import { formatMessage } from '@plinth/kernel/message';
import type { Deps } from '../compose';
import { LocalizedMessages } from '../domain/localized-messages';
import type { LayoutFinding } from '../formats/file-format';

/** For what a later version found, while processes of both run. */
const UNKNOWN_FINDING = 'The file is unusual in a way that this version of the service has no words for.';

/** Each of a dozen findings has one message. */
const MESSAGES_LENGTH_MAX = 64 * 1024;

/** What was found about a file, in the culture of a caller. */
export async function toFindingsResponse(
  findings: readonly LayoutFinding[],
  messageTexts: Deps['messageTexts'],
  caller: Caller,
  request: IncomingMessage,
) {
  if (findings.length === 0) return [];
  const messages = new LocalizedMessages(await messageTexts.of(caller, request), MESSAGES_LENGTH_MAX);
  return findings.map(({ code, args }) => {
    const english: string | undefined = formatFindings[code];
    const detail =
      messages.fill(`findings.${code}`, args) ??
      formatMessage(english ?? UNKNOWN_FINDING, args, { culture: 'en' });
    return { code, detail };
  });
}
