import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../api/permissions';
import { ListView } from '../../parts/list_page';
import { PageFrame } from '../../parts/page_frame';
import { instances } from './instance_kind';

export default function InstancesPage() {
  const mayStart = usePermission('instance.write');
  const start = mayStart && <Button component={Link} href="/start">Start an instance</Button>;
  return (
    <PageFrame title="Instances" actions={start}>
      <ListView kind={instances} emptyAction={start} />
    </PageFrame>
  );
}
