import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../api/permissions';
import { Section } from '../../parts/page_frame';
import { SmallList } from '../../parts/small_list';
import { grantFormLink, grants } from './grants';

interface Props {
  /** "user/ID" */
  subject: string;
  tenantID: string;
}

/** Roles of a user, group or service account, on its page. */
export function GrantSection({ subject, tenantID }: Props) {
  const seen = usePermission('grant.read', { tenantID });
  const gives = usePermission('grant.write', { tenantID });
  if (!seen) return null;
  const give = gives && <Button component={Link} href={grantFormLink(subject, { tenantID })} size="xs" variant="default">Give a role</Button>;
  return (
    <Section title="Roles" actions={give}>
      <SmallList
        kind={{ ...grants, columns: grants.columns.filter(({ key }) => key !== 'subject') }}
        query={{ subject }}
        empty="No role is granted to it directly. Roles of groups are on the pages of the groups."
      />
    </Section>
  );
}
