import type { IncomingMessage } from 'node:http';
import { formatFindings } from '@plinth/contracts/data-exchange/format-findings';
import type { Caller } from '@plinth/kernel/caller';
import { formatMessage } from '@plinth/kernel/message';
import type { Deps } from '../compose';
import type { LayoutFinding } from '../formats/file-format';

/** For what a later version found, while processes of both run. */
const UNKNOWN_FINDING = 'The file is unusual in a way that this version of the service has no words for.';

/** What was found about a file, in the culture of a caller. */
export async function toFindingsResponse(
  findings: readonly LayoutFinding[],
  messageTexts: Deps['messageTexts'],
  caller: Caller,
  request: IncomingMessage,
) {
  if (findings.length === 0) return [];
  const { culture, byKey } = await messageTexts.of(caller, request);
  return findings.map(({ code, args }) => {
    const localized = byKey[`findings.${code}`];
    const english: string | undefined = formatFindings[code];
    const detail =
      localized === undefined
        ? formatMessage(english ?? UNKNOWN_FINDING, args, { culture: 'en' })
        : formatMessage(localized, args, { culture });
    return { code, detail };
  });
}
