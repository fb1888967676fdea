import type { ReceivedSpan } from './trace-receiver.ts';

/*
 * The few messages of opentelemetry/proto/trace/v1 and common/v1 that a span is made of (version 1.7), read by their
 * field numbers.
 */

type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

export function readProtobufSpans(body: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const attributes = resource === undefined ? {} : attributesOf(resource, 1);
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => spanOf(span, attributes));
  });
}

function spanOf(span: Fields, resource: Readonly<Record<string, unknown>>): ReceivedSpan {
  const [status] = messages(span, 15);
  return {
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentSpanId: bytes(span, 4).toString('hex'),
    name: bytes(span, 5).toString('utf8'),
    kind: Number(number(span, 6)),
    startedAt: number(span, 7),
    attributes: attributesOf(span, 9),
    status: status === undefined ? {} : { code: Number(number(status, 3)), message: bytes(status, 2).toString('utf8') },
    resource,
  };
}

function attributesOf(message: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, field).map((attribute) => {
      const [value = new Map()] = messages(attribute, 2);
      return [bytes(attribute, 1).toString('utf8'), attributeValue(value)];
    }),
  );
}

function attributeValue(value: Fields): unknown {
  if (value.has(1)) return bytes(value, 1).toString('utf8');
  if (value.has(2)) return number(value, 2) === 1n;
  return Number(number(value, 3));
}

function messages(message: Fields, field: number): Fields[] {
  return (message.get(field) ?? []).map((value) => fieldsOf(value as Buffer));
}

function bytes(message: Fields, field: number): Buffer {
  return (message.get(field)?.[0] ?? Buffer.alloc(0)) as Buffer;
}

function number(message: Fields, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint;
}

function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;

  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  function take(length: number): Buffer {
    at += length;
    return message.subarray(at - length, at);
  }

  function readValue(wireType: number): bigint | Buffer {
    switch (wireType) {
      case 0:
        return varint();
      case 1:
        return take(8).readBigUInt64LE();
      case 2:
        return take(Number(varint()));
      case 5:
        return BigInt(take(4).readUInt32LE());
      default:
        throw new Error(`wire type ${wireType}`);
    }
  }

  while (at < message.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, [...values, readValue(tag & 7)]);
  }
  return fields;
}
