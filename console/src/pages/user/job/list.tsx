import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { ListView } from '../../../parts/list_page';
import { PageFrame } from '../../../parts/page_frame';
import { jobs } from './kind';

export default function JobsPage() {
  const maySubmit = usePermission('job.write');
  const submit = maySubmit && <Button component={Link} href="/jobs/new">Submit a job</Button>;
  return (
    <PageFrame title="Jobs" actions={submit}>
      <ListView kind={jobs} emptyAction={submit} />
    </PageFrame>
  );
}
