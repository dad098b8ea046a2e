import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What every API key begins with, so that people and scanners of leaked secrets recognize one. */
export const API_KEY_PREFIX = 'plinth_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 characters of 62 are 190 bits: a key cannot be guessed, so that a plain hash protects it where it is stored. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const API_KEY_PATTERN = new RegExp(
  `^${API_KEY_PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** Makes a new API key: prefix, random characters, and a checksum by which a mistyped key is told from a real one. */
export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return API_KEY_PREFIX + random + checksumOf(random);
}

/** Whether a text has the form of an API key, its checksum included; it says nothing about whether the key exists. */
export function isApiKey(text: string): boolean {
  const [, random, checksum] = API_KEY_PATTERN.exec(text) ?? [];
  return random !== undefined && checksumOf(random) === checksum;
}

/** By which an API key is stored and found: its SHA-256, in hexadecimal. */
export const hashOfApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The beginning of an API key, by which its owner recognizes it in a list. */
export const hintOfApiKey = (key: string): string => key.slice(0, API_KEY_PREFIX.length + 4);

/** CRC-32 in base 62, with leading zeros. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET[rest % ALPHABET.length]! + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
