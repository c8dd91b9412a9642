// The own hosts on the home of a provider, who runs no instances.
import { Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePermission } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Section } from '../../parts/page_frame';
import { SimulatedBadge, StateBadge } from '../../parts/state_badge';
import { AsyncView, Empty } from '../../parts/states';
import { countText } from '../../parts/words';

export function OwnHosts() {
  const query = useRead('/v1/hosts', { query: { limit: 8 } }, { kinds: ['host'] });
  const mayAdd = usePermission('host.write');
  const add = mayAdd && <Button component={Link} href="/add-host" size="xs">Add a host</Button>;
  return (
    <Section title="Hosts" actions={<Group gap="md"><Link href="/hosts" className="plain">All</Link>{add}</Group>}>
      <AsyncView
        query={query}
        isEmpty={(list) => list.items.length === 0}
        empty={<Empty text="No host has joined yet. A host joins with one command on the machine." command="hostler host token create --zone nj" />}
      >
        {(list) => (
          <div>
            {list.items.map((host) => (
              <div className="need" key={host.id} style={{ alignItems: 'center' }}>
                <Group gap="sm" style={{ flex: '1 1 220px' }}>
                  <Link href={`/hosts/${host.id}`} className="plain">{host.name}</Link>
                  <StateBadge state={host.state} reason={host.message} />
                  <SimulatedBadge simulated={host.simulated} />
                </Group>
                <Text fz="sm" c="dimmed">{`${host.gpus} × ${host.gpuModels.join(', ')}, ${host.gpusFree} free · ${countText(host.instances, 'instance')} · ${host.zone}`}</Text>
              </div>
            ))}
          </div>
        )}
      </AsyncView>
    </Section>
  );
}
