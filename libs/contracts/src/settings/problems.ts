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
  'api-key-not-found': {
    kind: 'not-found',
    title: 'API key not found',
    explanation: 'Your tenant has no API key with this id.',
  },
  'api-key-permission-not-held': {
    kind: 'forbidden',
    title: 'Permission cannot be given',
    explanation:
      'An API key has only permissions that its creator has. Leave out the permissions that the detail names.',
  },
  'api-key-shown-before': {
    kind: 'conflict',
    title: 'API key shown before',
    explanation:
      'A request with the same idempotency key created the API key and showed it; it is stored only as a hash and cannot be shown again. If it got lost, revoke it and create another one with a new idempotency key.',
  },
});
