// The states that every view has: loading, empty, refused, stale, not permitted; and the banners of the connection.
import { Alert, Button, Code, Group, List, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { CircleX, Inbox, Lock, RotateCw, Unplug } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useLive } from '../api/live';
import type { Problem } from '../api/problem';
import { CopyButton } from './values';
import { clockText } from './words';

/** Lines in grey, after 200 ms: what comes sooner needs none. */
export function Loading({ lines = 5 }: { lines?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      {shown && Array.from({ length: lines }, (_, i) => <Skeleton key={i} height={20} width={i % 2 ? '70%' : '90%'} />)}
    </Stack>
  );
}

/** One command of the command line, with copy. */
export function Command({ line }: { line: string }) {
  return (
    <Group gap={4} wrap="nowrap" maw="100%">
      <Code className="command">{line}</Code>
      <CopyButton text={line} what="the command" />
    </Group>
  );
}

interface EmptyProps {
  /** Description of what would stand here. */
  text: string;
  /** One button. */
  action?: ReactNode;
  /** One command: "hostler volume create models --size 10Gi". */
  command?: string;
}

export function Empty({ text, action, command }: EmptyProps) {
  return (
    <Stack align="center" py="xl" gap="md">
      <Inbox size={32} aria-hidden className="dimmed" />
      <Text ta="center" maw={480}>
        {text}
      </Text>
      {action}
      {command && <Command line={command} />}
    </Stack>
  );
}

/** "`hostler quota list` says more" with its command as code. */
export function Words({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part))}</>;
}

/** Sentences of the API begin in lower case, as in a log. Names of fields are not changed. */
const asSentence = (text: string) => text.replace(/^[a-z]+(?=[ ,])/, (word) => word.charAt(0).toUpperCase() + word.slice(1));

/** A refusal: sentence, reason, remedy, request id, retry. */
export function Refusal({ problem, retry }: { problem: Problem; retry?: () => void }) {
  const errors = problem.errors.filter(({ message }) => message !== problem.sentence);
  return (
    <Alert color="red" icon={<CircleX aria-hidden />} title={<Words text={asSentence(problem.sentence)} />} role="alert">
      <Stack gap="xs">
        {problem.help && <Text fz="sm"><Words text={problem.help} /></Text>}
        {errors.length > 0 && (
          <List size="sm">
            {errors.map(({ field, message }) => (
              <List.Item key={field + message}>
                <Code>{field}</Code> <Words text={message} />
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="md">
          {retry && (
            <Button size="xs" variant="light" color="red" leftSection={<RotateCw size={14} />} onClick={retry}>
              Try again
            </Button>
          )}
          {problem.reason && <Code>{problem.reason}</Code>}
          {problem.requestId && (
            <Group gap={2} wrap="nowrap">
              <Text fz="xs">Request {problem.requestId}</Text>
              <CopyButton text={problem.requestId} what="the request id" />
            </Group>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

interface AsyncViewProps<T> {
  query: Pick<UseQueryResult<T, Problem>, 'data' | 'error' | 'dataUpdatedAt' | 'refetch'>;
  children: (data: T) => ReactNode;
  /** Shown in place of the children when `isEmpty` says so. */
  empty?: ReactNode;
  isEmpty?: (data: T) => boolean;
  lines?: number;
}

/** Draws an answer in each of its states. Old content stays, grey and with its time, while the API refuses. */
export function AsyncView<T>({ query, children, empty, isEmpty, lines }: AsyncViewProps<T>) {
  const retry = () => void query.refetch();
  if (query.data === undefined)
    return query.error ? <Refusal problem={query.error} retry={retry} /> : <Loading lines={lines} />;
  const content = empty && isEmpty?.(query.data) ? empty : children(query.data);
  if (!query.error) return <>{content}</>;
  return (
    <Stack gap="sm">
      <Refusal problem={query.error} retry={retry} />
      <Text fz="sm" c="dimmed">
        as of {clockText(query.dataUpdatedAt)}
      </Text>
      <div className="stale">{content}</div>
    </Stack>
  );
}

/** For a page whose permission is missing. */
export function NotPermitted({ permission }: { permission: string }) {
  return (
    <Stack align="center" py="xl" gap="sm">
      <Lock size={32} aria-hidden className="dimmed" />
      <Title order={2} fz="lg">
        You may not see this page
      </Title>
      <Text ta="center">
        It needs the permission <Code>{permission}</Code>. An administrator of the tenant, or the operator of the cloud, can
        grant a role that has it.
      </Text>
      <Command line="hostler role list" />
    </Stack>
  );
}

/** Says above every page that the connection is lost, or that no master leads. Goes away by itself. */
export function ConnectionBanner() {
  const { status, since } = useLive();
  if (status !== 'lost' && status !== 'no-leader') return null;
  const lost = status === 'lost';
  return (
    <Alert color="orange" icon={<Unplug aria-hidden />} role="status" mb="md" title={lost ? 'Connection lost' : 'No master leads'}>
      {lost
        ? `The page shows what it knew at ${clockText(since)}. It asks again by itself.`
        : `Since ${clockText(since)} no master takes changes. What runs keeps running; the page goes back to normal by itself.`}
    </Alert>
  );
}
