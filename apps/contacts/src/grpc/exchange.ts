import { CompanyFields, ContactFields, ContactStage } from '@plinth/contracts/contacts/shapes';
import { defineExchange, type ExchangeDefinition } from '@plinth/conventions/exchange/definition';
import { enumField } from '@plinth/conventions/exchange/fields';
import { rawStatements } from '@plinth/conventions/exchange/raw-statements';
import { fieldsOf } from '@plinth/conventions/exchange/schema-fields';
import { companyFacts, contactFacts, tellDeleted, tellSaved, type Facts } from '../events/told';

/** What rows have that no file says, and who hears of rows that were written. */
const kept = (facts: Facts, table: string, onWrite: () => void) =>
  ({
    importable: true,
    table,
    key: ['externalId'],
    defaultSort: 'externalId',
    onInsert: { created_by: 'caller-id', changed_by: 'caller-id' },
    onUpdate: { version: 'next', changed_at: 'now', changed_by: 'caller-id' },
    async afterWrite(rows, { connection, caller }) {
      const written = await connection.query<{ id: string }>(
        `SELECT id FROM ${table} WHERE tenant_id = $1 AND external_id = ANY($2)`,
        [caller.tenantId, rows.map(({ values }) => values['externalId'])],
      );
      const ids = written.rows.map(({ id }) => id);
      await tellSaved(rawStatements(connection), caller, facts, ids, 'imported');
    },
    async afterUndo({ removed, restored }, { connection, caller }) {
      const tx = rawStatements(connection);
      const ids = restored.map(({ row }) => String(row['id']));
      const gone = removed.map((row) => ({ id: String(row['id']), externalId: String(row['external_id']) }));
      if (ids.length > 0) await tellSaved(tx, caller, facts, ids, 'restored');
      if (gone.length > 0) await tellDeleted(tx, caller, facts, gone);
    },
    afterCommit: onWrite,
  }) satisfies Partial<ExchangeDefinition>;

/** `Contacts.Companies` */
export const companiesExchange = (onWrite: () => void) =>
  defineExchange({
    ...kept(companyFacts, 'company', onWrite),
    name: 'Contacts.Companies',
    entityType: companyFacts.entityType,
    permission: 'Contacts.Companies.Manage',
    searchable: ['externalId', 'name', 'email'],
    fields: fieldsOf(CompanyFields, {
      externalId: { aliases: ['company id', 'number'], synonyms: ['numéro', 'nummer', 'número', 'code'] },
      name: { aliases: ['company', 'company name'], synonyms: ['société', 'firma', 'empresa', 'entreprise'] },
      kind: { synonyms: ['type', 'category', 'art', 'tipo'] },
      isActive: { synonyms: ['actif', 'aktiv', 'activo', 'enabled'] },
      foundedOn: { synonyms: ['founded', 'fondée le', 'gegründet', 'fundada'] },
      creditLimit: { synonyms: ['credit', 'limite de crédit', 'kreditlimit', 'límite de crédito'] },
      employees: { synonyms: ['headcount', 'effectif', 'mitarbeiter', 'empleados'] },
      email: { aliases: ['email address'], synonyms: ['courriel', 'mail', 'correo'] },
    }),
  });

/** `Contacts.Contacts`; a row names its company by the external id. */
export const contactsExchange = (onWrite: () => void) =>
  defineExchange({
    ...kept(contactFacts, 'contact', onWrite),
    name: 'Contacts.Contacts',
    entityType: contactFacts.entityType,
    permission: 'Contacts.Contacts.Manage',
    searchable: ['externalId', 'firstName', 'lastName', 'email'],
    fields: {
      ...fieldsOf(ContactFields, {
        externalId: { aliases: ['contact id', 'number'], synonyms: ['numéro', 'nummer', 'número', 'code'] },
        firstName: { synonyms: ['given name', 'prénom', 'vorname', 'nombre'] },
        lastName: { aliases: ['name', 'surname'], synonyms: ['family name', 'nom', 'nachname', 'apellido'] },
        email: { aliases: ['email address'], synonyms: ['courriel', 'mail', 'correo'] },
        phone: { aliases: ['phone number'], synonyms: ['téléphone', 'telefon', 'teléfono', 'mobile'] },
        channel: { aliases: ['channel'], synonyms: ['canal', 'kanal', 'contact by'] },
        wantsNews: { synonyms: ['newsletter', 'actualités', 'neuigkeiten', 'noticias'] },
        bornOn: { aliases: ['birthday'], synonyms: ['né le', 'geburtstag', 'nacimiento', 'date of birth'] },
        lastSpokenAt: { synonyms: ['last contact', 'dernier contact', 'letzter kontakt'] },
        company: {
          references: { table: 'company' },
          aliases: ['company', 'company id'],
          synonyms: ['société', 'firma', 'empresa', 'organization', 'account'],
        },
      }),
      stage: enumField({ column: 'stage', header: 'Stage', values: ContactStage, readOnly: true }),
    },
  });
