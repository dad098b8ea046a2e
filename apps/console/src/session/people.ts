/** Somebody to be in development, with the roles that the platform has by default. */
export interface Person {
  userId: string;
  name: string;
  role: 'admin' | 'publisher' | 'editor' | 'viewer';
}

export const people: readonly Person[] = [
  { userId: 'demo-admin', name: 'Ada Lovelace', role: 'admin' },
  { userId: 'grace', name: 'Grace Hopper', role: 'publisher' },
  { userId: 'emile', name: 'Émile Zola', role: 'editor' },
  { userId: 'ines', name: 'Inès Martin', role: 'viewer' },
];
