import { defineProblems } from '@plinth/kernel/problem';

export const settingsProblems = defineProblems({
  'setting-not-defined': {
    kind: 'not-found',
    title: 'Setting not defined',
    explanation:
      'No service defines a setting of this name, or it is not meant for users. The definitions are at /settings/definitions.',
  },
  'setting-scope-not-allowed': {
    kind: 'conflict',
    title: 'Scope not allowed for this setting',
    explanation:
      'The definition of the setting names the scopes at which it may be set; this scope is not one of them.',
  },
  'setting-locked': {
    kind: 'conflict',
    title: 'Setting locked',
    explanation:
      'An administrator locked the setting at a higher level, so it cannot be changed below that level.',
  },
  'setting-value-invalid': {
    kind: 'invalid',
    title: 'One or more validation errors occurred.',
    explanation: 'The value does not fit the JSON Schema that the definition of the setting gives.',
  },
});
