import type { ImportFormatFinding } from '@plinth/contracts/data-exchange/format-findings';
import type { RowMessageKey } from '@plinth/exchange/row-message';

/** The messages about rows and files in one culture; one that is absent is in English. */
export interface MessageTexts {
  culture: string;
  byKey: Readonly<Partial<Record<`rowErrors.${RowMessageKey}` | `findings.${ImportFormatFinding}`, string>>>;
}
