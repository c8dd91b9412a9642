// Events of one object: the newest ones, which follow the changes, and older ones page by page.
import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Call, read, type Schemas } from '../api/client';
import type { Problem } from '../api/problem';
import { type Kind, useRead } from '../api/use_read';
import { AsyncView, Refusal } from './states';
import { Timeline } from './timeline';

type Event = Schemas['Event'];

interface Props {
  path: '/v1/events' | '/v1/instances/{instance}/events' | '/v1/jobs/{job}/events' | '/v1/clusters/{cluster}/events';
  params?: Call['params'];
  query?: Call['query'];
  kinds: Kind[];
  enabled?: boolean;
  empty: ReactNode;
}

/** The newest first. An event has no id, and never changes: equal ones are one. */
function joined(newer: Event[], older: Event[]): Event[] {
  const known = new Set(newer.map((event) => JSON.stringify(event)));
  return [...newer, ...older.filter((event) => !known.has(JSON.stringify(event)))];
}

function Events({ path, params, query, kinds, enabled, empty }: Props) {
  const asked = { ...query, order: '-created', limit: query?.limit ?? 100 };
  const newest = useRead(path, { params, query: asked }, { kinds, enabled });
  // What has been shown stays when new events push it off the first page.
  const shown = useRef<Event[]>([]);
  const [behind, setBehind] = useState<{ cursor?: string }>();
  const events = joined(newest.data?.items ?? [], shown.current);
  useEffect(() => {
    shown.current = events;
  });
  const older = useMutation<{ items: Event[]; nextCursor?: string }, Problem, string>({
    mutationFn: (cursor) => read(path, { params, query: { ...asked, cursor } }),
    onSuccess: (page) => {
      shown.current = joined(shown.current, page.items);
      setBehind({ cursor: page.nextCursor });
    },
  });
  const cursor = behind ? behind.cursor : newest.data?.nextCursor;
  return (
    <AsyncView query={newest} isEmpty={() => events.length === 0} empty={empty}>
      {() => (
        <Stack>
          <Timeline events={events} />
          {older.error && <Refusal problem={older.error} />}
          {cursor && <Button variant="default" size="xs" w="fit-content" loading={older.isPending} onClick={() => older.mutate(cursor)}>Older</Button>}
        </Stack>
      )}
    </AsyncView>
  );
}

export function EventList(props: Props) {
  return <Events key={JSON.stringify([props.path, props.params, props.query])} {...props} />;
}
