import type { Delegation } from '../domain/delegation';

export const toDelegationResponse = ({ permissions: _permissions, ...delegation }: Delegation) => delegation;
