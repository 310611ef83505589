package observatory.connect;

import observatory.spark.ConnectCalls;
import org.sparkproject.connect.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import org.sparkproject.connect.grpc.Metadata;
import org.sparkproject.connect.grpc.ServerCall;
import org.sparkproject.connect.grpc.ServerCallHandler;
import org.sparkproject.connect.grpc.ServerInterceptor;

/**
 * Shows the plugin each call of Spark Connect's clients, in the thread that handles it: the call's message
 * and metadata are complete at half close, when Spark starts the thread that runs the plan. (interceptCall
 * runs in another thread.)
 */
public final class CallInterceptor implements ServerInterceptor {
  private static final Metadata.Key<String> TRACEPARENT = Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    final String traceparent = headers.get(TRACEPARENT);
    return new SimpleForwardingServerCallListener<Q>(next.startCall(call, headers)) {
      private Q request;

      @Override
      public void onMessage(Q message) {
        request = message;
        super.onMessage(message);
      }

      @Override
      public void onHalfClose() {
        ConnectCalls.Call began = ConnectCalls.begin(request, traceparent);
        request = null; // a call may last for hours
        try {
          super.onHalfClose();
        } finally {
          began.end();
        }
      }
    };
  }
}
