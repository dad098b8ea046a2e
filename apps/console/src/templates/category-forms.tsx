import { templates, type TemplateCategory } from '../api/templates';
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
  const form = useContractForm({
    ...categoryForm,
    defaultValues: { name: category.name },
    send: async ({ name }) => {
      const { id, description, icon, sortOrder } = category;
      if (name.trim() === category.name) return;
      const body = { name: name.trim(), description, icon, sortOrder };
      await templates.putTemplateCategory({ params: { id }, body });
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
