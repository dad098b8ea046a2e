import type { CompanyKind } from '@plinth/contracts/contacts/shapes';
import type { CompanyRow } from '../store/company-store';
import { toDay } from './record-response';

export const toCompany = (row: CompanyRow) => {
  const { id, externalId, name, isActive, email, createdAt, createdBy, changedAt, changedBy } = row;
  return {
    id,
    externalId,
    name,
    kind: row.kind as CompanyKind,
    isActive,
    foundedOn: toDay(row.foundedOn),
    creditLimit: row.creditLimit === null ? null : Number(row.creditLimit),
    employees: row.employees === null ? null : Number(row.employees),
    email,
    createdAt,
    createdBy,
    changedAt,
    changedBy,
  };
};
