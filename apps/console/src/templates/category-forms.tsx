import { ApiProblem } from '@plinth/sdk/api-problem';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { categoryQuery, templates, type TemplateCategory } from '../api/templates';
import { Button } from '../components/button';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';
import { useCategoryRefresh } from './use-category-refresh';

const categoryForm = { shape: 'category', problems: { 'category-exists': 'name' } } as const;

export function NewCategory() {
  const { t } = useTexts();
  const refresh = useCategoryRefresh();
  const form = useContractForm({
    ...categoryForm,
    defaultValues: { name: '' },
    send: ({ name }) => templates.postTemplateCategory({ body: { name: name.trim() } }),
    onSent: async () => {
      form.reset();
      await refresh();
    },
  });
  return (
    <div className="stack tight">
      <Form form={form} className="row preset-form">
        <FormField
          form={form}
          name="name"
          hidesLabel
          label={t('Console.templates.categories.newName')}
          placeholder={t('Console.templates.categories.newName')}
        />
        <Button type="submit" look="primary" isPending={form.isPending}>
          {t('Console.templates.categories.create')}
        </Button>
      </Form>
      {form.failure && <Failure error={form.failure} />}
    </div>
  );
}

export function RenameCategory({ category, onDone }: { category: TemplateCategory; onDone: () => void }) {
  const { t } = useTexts();
  const refresh = useCategoryRefresh();
  const queries = useQueryClient();
  const query = categoryQuery(category.id);
  const { data } = useQuery(query);
  // As it was when the form opened: it is read again with the list around it, and the new name is for this one.
  const [base, setBase] = useState(data);
  if (!base && data) setBase(data);
  const form = useContractForm({
    ...categoryForm,
    defaultValues: { name: category.name },
    send: async ({ name }) => {
      if (name.trim() === category.name) return;
      const { category: read, etag } = base ?? (await queries.ensureQueryData(query));
      const { id, description, icon, sortOrder } = read;
      const body = { name: name.trim(), description, icon, sortOrder };
      try {
        await templates.putTemplateCategory({ params: { id }, body, ifMatch: etag });
      } catch (error) {
        // Somebody else changed it meanwhile, which is seen before it is changed again.
        if (error instanceof ApiProblem && error.slug === 'stale-version')
          void refresh().then(() => setBase(undefined));
        throw error;
      }
    },
    onSent: async () => {
      await refresh();
      onDone();
    },
  });
  return (
    <div className="stack tight">
      <Form form={form} className="row preset-form">
        <FormField
          form={form}
          name="name"
          autoFocus
          hidesLabel
          label={t('Console.templates.categories.newName')}
        />
        <Button type="submit" isPending={form.isPending}>
          {t('Platform.actions.save')}
        </Button>
        <Button look="quiet" onPress={onDone}>
          {t('Platform.actions.cancel')}
        </Button>
      </Form>
      {form.failure && <Failure error={form.failure} />}
    </div>
  );
}
