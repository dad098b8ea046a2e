/** What is wrong with the name of a template, where the words for every field do not say it. */
export const nameWords = { 'name.Format': 'Console.templates.nameFormat' } as const;
export const nameProblems = { 'template-exists': 'name' } as const;
