import type { IncomingMessage } from 'node:http';
import { formatFindings } from '@plinth/contracts/data-exchange/format-findings';
import type { Caller } from '@plinth/kernel/caller';
import { formatMessage } from '@plinth/kernel/message';
import type { Deps } from '../compose';
import type { LayoutFinding } from '../formats/file-format';

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
    const detail =
      localized === undefined
        ? formatMessage(formatFindings[code], args, { culture: 'en' })
        : formatMessage(localized, args, { culture });
    return { code, detail };
  });
}
