import { Link } from 'wouter';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Ago, Facts, Id } from '../../parts/values';
import { bytesText, durationText } from '../../parts/words';
import type { Instance } from './instance_kind';
import { JobName } from './job/kind';

const never = (seconds: number) => (seconds === 0 ? 'never' : durationText(seconds));

/** The name, for those who may read hosts. */
function HostName({ id }: { id: string }) {
  const permitted = usePermission('host.read');
  const { data } = useRead('/v1/hosts/{host}', { params: { host: id } }, { kinds: ['host'], enabled: permitted });
  return permitted ? <Link className="plain" href={`/hosts/${encodeURIComponent(id)}`}>{data?.name ?? id}</Link> : id;
}

/** The job or service that alone changes it. */
function Owner({ instance: { owner, tenantID } }: { instance: Instance }) {
  if (owner?.kind === 'job') return <>job <JobName id={owner.id} tenantID={tenantID} /></>;
  return <>{owner?.kind} {owner?.id}</>;
}

/** What an instance is made of. */
export function InstanceFacts({ instance: it }: { instance: Instance }) {
  const layer = it.layer;
  return (
    <Facts
      facts={[
        { name: 'Id', value: <Id value={it.id} /> },
        ...(it.owner ? [{ name: 'Task of', value: <Owner instance={it} /> }] : []),
        { name: 'Spec', value: it.specName },
        { name: 'Image', value: it.image },
        { name: 'Template', value: it.templateName },
        { name: 'Zone', value: it.zone },
        { name: 'Host', value: it.host && <HostName id={it.host} /> },
        { name: 'GPUs', value: it.gpus.join(', ') },
        { name: 'Tenant, project', value: [it.tenantID, it.project].filter(Boolean).join(', ') },
        { name: 'Address', value: it.address },
        { name: 'Volumes', value: it.volumes.map(({ name, mountPath }) => `${name} at ${mountPath}`).join(', ') },
        { name: 'Written outside volumes', value: layer?.usedBytes === undefined ? undefined : `${bytesText(layer.usedBytes)} of ${bytesText(layer.totalBytes)}` },
        { name: 'Stops when unused', value: never(it.inactivityTimeoutSeconds) },
        { name: 'Stops', value: it.stopsAt && <Ago time={it.stopsAt} /> },
        { name: 'Last used', value: it.usedAt && <Ago time={it.usedAt} /> },
        { name: 'Ready since', value: it.readyAt && <Ago time={it.readyAt} /> },
        { name: 'Made', value: <><Ago time={it.createdAt} /> {it.createdBy && `by ${it.createdBy}`}</> },
      ]}
    />
  );
}
