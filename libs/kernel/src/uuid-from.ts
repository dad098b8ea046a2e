// Beside uuid.ts because that one also runs in browsers, which have no node:crypto.
import { hash } from 'node:crypto';

/**
 * The UUID version 8 (RFC 9562) of a text: the same for the same text, and nothing can be read from it.
 * `variantDigit` is for ids that were stored with one fixed digit there and must be found again.
 */
export function uuidFrom(text: string, variantDigit?: '8' | 'a'): string {
  const hex = hash('sha256', text, 'hex');
  const variant = variantDigit ?? ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
