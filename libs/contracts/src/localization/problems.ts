import { defineProblems } from '@plinth/kernel/problem';

export const localizationProblems = defineProblems({
  'override-store-missing': {
    kind: 'unsupported',
    title: 'No override store',
    explanation:
      'This installation keeps no overrides of texts (`OVERRIDE_STORE=none`), so they can be neither read nor changed. ' +
      'The texts of the platform are served as they are.',
  },
  'override-not-found': {
    kind: 'not-found',
    title: 'Override not found',
    explanation:
      'The tenant does not override this text. Writing one with PUT creates it; the bootstrap shows the text that applies.',
  },
});
