// Saves of a cluster: what there is, another one, and a new cluster made of one.
import { useLocation } from 'wouter';
import type { Schemas } from '../../../api/client';
import { usePermission } from '../../../api/permissions';
import { useRead } from '../../../api/use_read';
import { Action } from '../../../parts/action';
import { Section } from '../../../parts/page_frame';
import type { Deed } from '../../../parts/resource';
import { StateBadge, type Tone } from '../../../parts/state_badge';
import { AsyncView, Empty } from '../../../parts/states';
import { Ago, Bytes, Id } from '../../../parts/values';
import { SmallTable } from '../../operator/small_table';
import { clusterPage, clusters } from './kind';
import { type Cluster, isEnding } from './words';

export type ClusterSave = Schemas['ClusterSave'];

const tones: Record<ClusterSave['state'], Tone> = { saving: 'busy', saved: 'ok', failed: 'bad', deleting: 'busy', deleted: 'off' };

export const saveNow: Deed<Cluster> = {
  label: 'Save now',
  method: 'POST',
  path: '/v1/clusters/{cluster}/saves',
  params: ({ id }) => ({ cluster: id }),
  query: ({ tenantID }) => ({ tenantID }),
  permission: 'cluster.write',
  command: 'cluster save',
  plan: ({ name }) => `A host of the control plane saves the state and the keys of ${name}. What pods wrote to disks is not saved.`,
  when: (cluster) => Boolean(cluster.madeAt) && !isEnding(cluster),
  done: 'The save is begun.',
};

const one = { params: ({ id }: ClusterSave) => ({ save: id }), permission: 'cluster.write' } as const;

export const removeSave: Deed<ClusterSave> = {
  ...one,
  label: 'Delete',
  method: 'DELETE',
  path: '/v1/cluster-saves/{save}',
  command: 'cluster delete-save',
  plan: ({ id }) => `${id} and its file are deleted. No cluster can be restored from it afterwards.`,
  confirmName: ({ id }) => id,
  when: ({ state }) => state === 'saved' || state === 'failed',
  done: 'The save is being deleted.',
  danger: true,
  dismiss: 'Keep it',
};

export const restore: Deed<ClusterSave> = {
  label: 'Restore as a new cluster',
  method: 'POST',
  path: '/v1/clusters',
  permission: 'cluster.write',
  command: 'cluster create',
  body: ({ id, tenantID, project }) => ({ restore: id, tenantID, project }),
  plan: ({ clusterName, version }) => `A new cluster of ${version} is made of what ${clusterName} was. It takes hosts for its control plane; add pools of workers when it is ready.`,
  fields: [
    { name: 'name', label: 'Name', required: true, placeholder: 'train2' },
    { name: 'control', label: 'Control plane hosts', kind: 'choice', required: true, values: ['1', '3'], initial: '1' },
  ],
  shape: (body) => ({ ...body, control: Number(body.control) }),
  when: ({ state }) => state === 'saved',
  done: 'The new cluster is being made.',
};

export function ClusterSaves({ cluster }: { cluster: Cluster }) {
  const [, go] = useLocation();
  const mayChange = usePermission('cluster.write', cluster);
  const query = useRead('/v1/cluster-saves', { query: { tenantID: cluster.tenantID, project: cluster.project, cluster: cluster.id, order: '-created' } }, { kinds: clusters.kinds });
  const place = ({ tenantID, project }: Pick<Cluster, 'tenantID' | 'project'>) => ({ tenantID, project });
  return (
    <Section title="Saves" actions={<Action deed={saveNow} item={cluster} kinds={clusters.kinds} place={place} />}>
      <AsyncView query={query} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty text="It has no saves. A save holds the state and the keys of the control plane." />
          ) : (
            <SmallTable
              label="Saves"
              rows={items}
              id={({ id }) => id}
              columns={[
                { title: 'Save', cell: ({ id }) => <Id value={id} /> },
                { title: 'State', cell: ({ state, message }) => <StateBadge state={state} tone={tones[state]} reason={message} /> },
                { title: 'Size', cell: ({ bytes }) => (bytes > 0 ? <Bytes value={bytes} /> : '') },
                { title: 'Created', cell: ({ createdAt }) => <Ago time={createdAt} /> },
                ...(mayChange
                  ? [{
                      title: 'Actions',
                      cell: (save: ClusterSave) => (
                        <>
                          <Action deed={restore} item={save} kinds={clusters.kinds} place={place} button={{ size: 'compact-xs' }} onDone={(made) => go(clusterPage(made as Cluster))} />{' '}
                          <Action deed={removeSave} item={save} kinds={clusters.kinds} place={place} button={{ size: 'compact-xs' }} />
                        </>
                      ),
                    }]
                  : []),
              ]}
            />
          )
        }
      </AsyncView>
    </Section>
  );
}
