/** The names of the formats of documents, by their numbers. */
export const formatNames = ['Html', 'Pdf', 'Excel'] as const;
