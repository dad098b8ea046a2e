import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { openApiDocument } from '@plinth/contracts/openapi/document';
import { statusByKind } from '@plinth/http/problem-details';

/** The text of `openapi/plinth.json`. */
export const documentText = (): string => {
  const document = openApiDocument({
    endpoints: allEndpoints,
    problems: allProblems,
    statusByKind,
    prefix: '/api/v1',
  });
  return `${JSON.stringify(document, null, 2)}\n`;
};
