import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { ListView } from '../../../parts/list_page';
import { PageFrame } from '../../../parts/page_frame';
import { clusters } from './kind';

export default function ClustersPage() {
  const mayCreate = usePermission('cluster.write');
  const create = mayCreate && <Button component={Link} href="/clusters/new">Create a cluster</Button>;
  return (
    <PageFrame title="Clusters" actions={create}>
      <ListView kind={clusters} emptyAction={create} />
    </PageFrame>
  );
}
