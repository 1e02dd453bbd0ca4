package petclinic.system;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.web.servlet.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.servlet.ModelAndView;

/** Answers every failed request with a page; Spring Boot's own controller answers JSON to a client that accepts anything. */
@Controller
class FailureController implements ErrorController {

    @RequestMapping("${server.error.path:/error}")
    ModelAndView failure(HttpServletRequest request) {
        Integer code = (Integer) request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        HttpStatus status = code == null ? HttpStatus.NOT_FOUND : HttpStatus.valueOf(code);
        ModelAndView page = new ModelAndView("error", status);
        switch (status) {
            case NOT_FOUND -> say(page, "", "Not found", "There is nothing at this address.");
            case METHOD_NOT_ALLOWED -> say(page, "", "Not allowed", "This address does not answer that method.");
            case BAD_REQUEST -> say(page, "", "Not understood", "The clinic could not read this request.");
            default -> say(
                    page,
                    "oops",
                    "Something went wrong",
                    "The clinic could not answer this request. It has been noted.");
        }
        return page;
    }

    private static void say(ModelAndView page, String active, String title, String message) {
        page.addObject("active", active).addObject("title", title).addObject("message", message);
    }
}
