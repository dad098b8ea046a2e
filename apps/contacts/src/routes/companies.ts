import { contactsEndpoints } from '@plinth/contracts/contacts/endpoints';
import type { Api } from '@plinth/http/api';
import { created, noContent, ok } from '@plinth/http/response';
import type { Deps } from '../compose';
import { companyTag } from '../store/company-store';
import { toCompany } from './company-response';
import { cursorKeyOf } from './record-response';

const { getCompanies, postCompany, getCompany, putCompany, deleteCompany } = contactsEndpoints;

export function mountCompanies(api: Api, { companies }: Pick<Deps, 'companies'>): void {
  api.on(getCompanies, async ({ list, caller }) => {
    const { rows, totalCount } = await companies.list(caller.tenantId, list);
    return list.toPage(rows, totalCount, toCompany, cursorKeyOf(list));
  });

  api.on(postCompany, async ({ body, caller }) => {
    const row = await companies.create(caller, body);
    return created(toCompany(row), `/companies/${row.id}`, { etag: companyTag(row) });
  });

  api.on(getCompany, async ({ params: { id }, caller }) => {
    const row = await companies.get(caller.tenantId, id);
    return ok(toCompany(row), { etag: companyTag(row) });
  });

  api.on(putCompany, async ({ params: { id }, body, caller, precondition }) => {
    const row = await companies.update(caller, id, body, precondition);
    return ok(toCompany(row), { etag: companyTag(row) });
  });

  api.on(deleteCompany, async ({ params: { id }, caller, precondition }) => {
    await companies.delete(caller, id, precondition);
    return noContent();
  });
}
