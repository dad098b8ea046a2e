import { v7 } from 'uuid';

/** A new UUID version 7; ids made by one process sort in the order in which they were made (RFC 9562, 6.2). */
export const newId = (): string => v7();

/** The textual form of a UUID of any version. */
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID_PATTERN.test(text);
