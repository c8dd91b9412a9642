import { Link } from 'wouter';
import { useRead } from '../../api/use_read';
import { instancePage } from './instance_kind';

/** An instance that is known by its id alone, as a link with its name. */
export function InstanceName({ id, tenantID }: { id: string; tenantID?: string }) {
  const { data } = useRead('/v1/instances/{instance}', { params: { instance: id }, query: { tenantID } }, { kinds: ['instance'] });
  const href = data ? instancePage(data) : `/instances/${encodeURIComponent(id)}`;
  return <><Link className="plain" href={href}>{data?.instanceID ?? id}</Link> </>;
}
