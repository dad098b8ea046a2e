import { contactsEndpoints } from '@plinth/contracts/contacts/endpoints';
import type { Api } from '@plinth/http/api';
import { created, noContent, ok } from '@plinth/http/response';
import type { Deps } from '../compose';
import { contactTag } from '../store/contact-store';
import { toContact } from './contact-response';
import { cursorKeyOf } from './record-response';

const { getContacts, postContact, getContact, putContact, deleteContact } = contactsEndpoints;

export function mountContacts(api: Api, { contacts }: Pick<Deps, 'contacts'>): void {
  api.on(getContacts, async ({ list, caller }) => {
    const { rows, totalCount } = await contacts.list(caller.tenantId, list);
    return list.toPage(rows, totalCount, toContact, cursorKeyOf(list));
  });

  api.on(postContact, async ({ body, caller }) => {
    const row = await contacts.create(caller, body);
    return created(toContact(row), `/contacts/${row.id}`, { etag: contactTag(row) });
  });

  api.on(getContact, async ({ params: { id }, caller }) => {
    const row = await contacts.get(caller.tenantId, id);
    return ok(toContact(row), { etag: contactTag(row) });
  });

  api.on(putContact, async ({ params: { id }, body, caller, precondition }) => {
    const row = await contacts.update(caller, id, body, precondition);
    return ok(toContact(row), { etag: contactTag(row) });
  });

  api.on(deleteContact, async ({ params: { id }, caller, precondition }) => {
    await contacts.delete(caller, id, precondition);
    return noContent();
  });
}
