import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { definitionsQuery, type WorkflowDefinition } from '../api/workflow';
import { Button } from '../components/button';
import { ColumnTable } from '../components/column-table';
import { Page } from '../components/page';
import { Badge, Failure, Skeleton } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';

/** The state machines that apply to the tenant. */
export function WorkflowsPage() {
  const { t } = useTexts();
  const { data: definitions, error, refetch } = useQuery(definitionsQuery);
  const mayDefine = mayDo(useCaller(), 'Workflow.Definitions.Manage');
  return (
    <Page title={t('Console.workflows.title')} lead={t('Console.workflows.lead')}>
      {error && <Failure error={error} onRetry={refetch} />}
      {!definitions && !error && <Skeleton lines={4} height="2.6rem" />}
      {definitions && <DefinitionTable definitions={definitions} />}
      {/* Below a table whose height nobody knows before. */}
      {(definitions ?? error) && mayDefine && <NewDefinition />}
    </Page>
  );
}

function DefinitionTable({ definitions }: { definitions: readonly WorkflowDefinition[] }) {
  const { t, number } = useTexts();
  return (
    <ColumnTable
      label={t('Console.workflows.title')}
      items={definitions}
      keyOf={({ entityType }) => entityType}
      isLinked
      columns={[
        {
          name: t('Workflow.fields.entityType'),
          cell: ({ entityType }) => (
            <Link to="/workflows/$entityType" params={{ entityType }} className="cover">
              {entityType}
            </Link>
          ),
        },
        {
          name: t('Console.workflows.states'),
          cell: ({ states }) => number(states.length),
          isNumber: true,
        },
        {
          name: t('Console.workflows.transitions'),
          cell: ({ transitions }) => number(transitions.length),
          isNumber: true,
        },
        {
          name: t('Console.workflows.scope'),
          cell: ({ scope }) => (
            <Badge tone={scope === 'Tenant' ? 'accent' : undefined}>
              {t(`Workflow.definitionScope.${scope}`)}
            </Badge>
          ),
        },
        { name: t('Console.workflows.version'), cell: ({ version }) => number(version), isNumber: true },
      ]}
    />
  );
}

function NewDefinition() {
  const { t } = useTexts();
  const navigate = useNavigate();
  const form = useContractForm({
    shape: 'entityType',
    defaultValues: { entityType: '' },
    send: ({ entityType }) =>
      navigate({ to: '/workflows/$entityType', params: { entityType: entityType.trim() } }),
  });
  return (
    <Form form={form} className="panel padded stack">
      <FormField
        form={form}
        name="entityType"
        label={t('Console.workflows.newFor')}
        description={t('Console.workflows.newHelp')}
      />
      <div>
        <Button type="submit">
          <Plus aria-hidden />
          {t('Console.workflows.draw')}
        </Button>
      </div>
    </Form>
  );
}
