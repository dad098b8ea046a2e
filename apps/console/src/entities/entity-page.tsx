import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { cultureQuery, templateOf } from '../api/templates';
import { followersQuery } from '../api/timeline';
import type { Entity } from '../api/workflow';
import { useAfterPaint } from '../components/after-paint';
import { Button } from '../components/button';
import { Page } from '../components/page';
import { Failure } from '../components/state';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { followingChange } from './following';
import { Timeline } from './timeline';
import { CurrentState, StatePath } from './workflow-panel';

/** Everything about one entity: its state and what may become of it, and what people say about it. */
export function EntityPage() {
  const { t } = useTexts();
  const entity = useParams({ from: '/shell/entities/$entityType/$entityId' });
  // What is deferred is never shown of another entity.
  const name = JSON.stringify(entity);
  const template = templateOf(entity);
  const caller = useCaller();
  const mayReadTimeline = mayDo(caller, 'Timeline.Entries.Read');
  const mayReadState = mayDo(caller, 'Workflow.Transitions.Read');
  return (
    <Page
      isWide
      title={`${entity.entityType} ${entity.entityId}`}
      lead={
        <>
          {t('Console.entities.lead')}{' '}
          {template && (
            <Link
              to="/templates/$name"
              params={{ name: template.name }}
              search={cultureQuery(template.culture)}
            >
              {t('Console.entities.template')}
            </Link>
          )}
        </>
      }
      actions={mayReadTimeline && <FollowButton entity={entity} />}
    >
      <div className={mayReadTimeline ? 'entity' : 'stack'}>
        {mayReadTimeline && <Timeline key={`timeline of ${name}`} entity={entity} />}
        {mayReadState && <CurrentState key={`state of ${name}`} entity={entity} />}
        {mayReadState && <StatePath key={`path of ${name}`} entity={entity} />}
      </div>
    </Page>
  );
}

function FollowButton({ entity }: { entity: Entity }) {
  const { t } = useTexts();
  const { userId } = useCaller();
  const queries = useQueryClient();
  // What people wrote comes first.
  const isPainted = useAfterPaint();
  const { data: followers } = useQuery({ ...followersQuery(entity), enabled: isPainted });
  const isFollowing = followers?.includes(userId) ?? false;
  const toggle = useMutation(followingChange(queries, entity, userId));
  if (!followers)
    return (
      <span className="button" style={{ visibility: 'hidden' }} aria-hidden>
        {t('Platform.actions.follow')}
      </span>
    );
  return (
    <>
      <span className="soft small">{t('Timeline.messages.followers', { count: followers.length })}</span>
      <Button onPress={() => toggle.mutate(!isFollowing)}>
        {t(isFollowing ? 'Platform.actions.unfollow' : 'Platform.actions.follow')}
      </Button>
      {toggle.error && <Failure error={toggle.error} />}
    </>
  );
}
